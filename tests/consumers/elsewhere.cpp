// Another file of the program members.cpp: both include the header.
#include <onlinekern/onlinekern.hpp>

double score_elsewhere(const onlinekern::Model &model, const std::vector<double> &x);

double score_elsewhere(const onlinekern::Model &model, const std::vector<double> &x)
{
    return model.score_one(x);
}
