/* The table of forest_loops.h for the instruction set that has been chosen at import. */
#include "onlinekern/forest_loops.h"

#include <string.h>

extern const ok_forest_table ok_forest_baseline;
#ifdef OK_X86_LEVELS
extern const ok_forest_table ok_forest_v3;
extern const ok_forest_table ok_forest_v4;
#endif

const ok_forest_table *ok_forest_select(const char *name)
{
#ifdef OK_X86_LEVELS
    if (strcmp(name, ok_forest_v4.name) == 0)
        return &ok_forest_v4;
    if (strcmp(name, ok_forest_v3.name) == 0)
        return &ok_forest_v3;
#endif
    return strcmp(name, ok_forest_baseline.name) == 0 ? &ok_forest_baseline : NULL;
}
