/* Rows of tables in generated files. See scoring.c. */

/*** place_of ***/
/* Return the place of a text in a list that is sorted by bytes, or -1 if it is not there. */
static int32_t place_of(const char *text, const char *const *texts, const int32_t *places,
                        int32_t n)
{
    int32_t first = 0, last = n;
    while (first < last) {
        const int32_t middle = first + (last - first) / 2;
        const int order = strcmp(text, texts[middle]);
        if (order == 0)
            return places[middle];
        if (order < 0)
            last = middle;
        else
            first = middle + 1;
    }
    return -1;
}

/*** hash_of ***/
/* Return the hash of a text: MurmurHash3 of 32 bits (Appleby), without its sign. */
static uint32_t turned(uint32_t k, int by)
{
    return (k << by) | (k >> (32 - by));
}

static uint32_t mixed(uint32_t k)
{
    return turned(k * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

static uint32_t hash_of(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const uint32_t length = (uint32_t)strlen(text);
    uint32_t h = 0, k = 0, j = 0;
    for (; j + 4 <= length; j += 4) {
        k = (uint32_t)bytes[j] | (uint32_t)bytes[j + 1] << 8 | (uint32_t)bytes[j + 2] << 16
            | (uint32_t)bytes[j + 3] << 24;
        h = turned(h ^ mixed(k), 13) * 5 + UINT32_C(0xe6546b64);
    }
    for (k = 0; j < length; j++)
        k |= (uint32_t)bytes[j] << 8 * (j % 4);
    h ^= mixed(k);
    h ^= length;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/*** nothing ***/
/* NaN. */
static double nothing(void)
{
    const double zero = 0;
    return zero / zero;
}

/*** circle ***/
static void on_circle(double turns, real *x)
{
    const double angle = 6.283185307179586476925 * (turns - floor(turns));
    x[0] = (real)sin(angle);
    x[1] = (real)cos(angle);
}

/*** weekday ***/
/* Return the day of the week: 0 on Mondays ... 6 on Sundays. */
static double weekday(double seconds)
{
    return fmod(fmod(floor(seconds / 86400) + 3, 7) + 7, 7);
}

/*** from_march ***/
/* Return the day of a year that begins on 1 March, counted from 0. A leap day is then the last
   one. */
static double from_march(double seconds)
{
    const double day = floor(seconds / 86400) + 719468, era = floor(day / 146097);
    const double own = day - era * 146097;
    const double year = floor((own - floor(own / 1460) + floor(own / 36524)
                               - floor(own / 146096)) / 365);
    return own - (365 * year + floor(year / 4) - floor(year / 100));
}

/*** day_of_month: from_march ***/
/* Return the day of the month, 1 ... 31. */
static double day_of_month(double seconds)
{
    const double day = from_march(seconds), month = floor((5 * day + 2) / 153);
    return day - floor((153 * month + 2) / 5) + 1;
}

/*** day_of_year: from_march ***/
/* Return the day of the year, 1 ... 366, counted as in a leap year. */
static double day_of_year(double seconds)
{
    const double day = from_march(seconds);
    return day < 306 ? day + 61 : day - 305;
}

/*** encode ***/
int ${prefix}_encode(const ${prefix}_value *values, ${prefix}_real *x)
{
$columns
    return ${PREFIX}_OK;
}

/*** encode_number ***/
    { /* $about */
        const double number = values[$column].number;
        if (number - number != 0 && number == number)
            return ${PREFIX}_NOT_FINITE;
        x[$first] = (real)(number == number ? number : $absent);
$indicator    }

/*** encode_indicator ***/
        x[$first + 1] = (real)(number != number);

/*** encode_category ***/
    { /* $about */
        const char *text = values[$column].text ? values[$column].text : "";
        const int32_t place = place_of(text, ${id}_texts, ${id}_places, $known);
        for (int32_t j = 0; j < $width; j++)
            x[$first + j] = 0;
        if (place >= 0)
            x[$first + place] = 1;
$others    }

/*** encode_others ***/
        else
            x[$first + $width - 1] = 1;

/*** encode_code ***/
    { /* $about */
        const char *text = values[$column].text ? values[$column].text : "";
        const int32_t place = place_of(text, ${id}_texts, ${id}_places, $known);
        x[$first] = (real)(*text == 0 ? nothing() : place < 0 ? $unknown : place);
    }

/*** encode_hash: hash_of ***/
    { /* $about */
        const char *text = values[$column].text ? values[$column].text : "";
        for (int32_t j = 0; j < $width; j++)
            x[$first + j] = 0;
        x[$first + hash_of(text) % $width] = 1;
    }

/*** encode_date ***/
    { /* $about */
        const double seconds = values[$column].number;
        if (seconds != seconds) {
            for (int32_t j = 0; j < $width; j++)
                x[$first + j] = (real)$absent;
        } else if (seconds - seconds != 0) {
            return ${PREFIX}_NOT_FINITE;
        } else {
$parts
        }
    }

/*** scale_features ***/
    for (int32_t j = 0; j < $features; j++)
        x[j] = (real)(((double)x[j] - (double)${id}_mean[j]) / (double)${id}_scale[j]);

/*** row_entries ***/
int ${prefix}_score_row(const ${prefix}_value *values, ${prefix}_real *scores)
{
    const int status = ${prefix}_encode(values, encoded_row);
    return status == ${PREFIX}_OK ? ${prefix}_score(encoded_row, scores) : status;
}

/*** predict_row_class ***/
int32_t ${prefix}_predict_row(const ${prefix}_value *values)
{
    const int status = ${prefix}_encode(values, encoded_row);
    return status == ${PREFIX}_OK ? ${prefix}_predict(encoded_row) : status;
}

/*** predict_row_target ***/
int ${prefix}_predict_row(const ${prefix}_value *values, ${prefix}_real *target)
{
    return ${prefix}_score_row(values, target);
}

/*** coded_row ***/
/* Make the row that the trees take: numbers of categories, and NaN for missing numbers. */
static void code_row(const row *x, row *out)
{
    for (int32_t j = 0; j < $length; j++) {
        const int32_t first = layout_first[j], count = layout_count[j];
        int32_t k = 0;
        coded[j] = x->values[first];
        if (count == 0 && x->values[first + 1] != 0)
            coded[j] = (real)nothing();
        while (count > 1 && k < count && x->values[first + k] == 0)
            k++;
        if (count > 1)
            coded[j] = k < count ? (real)k : (real)65535;
    }
    out->values = coded;
    out->columns = 0;
    out->n = $length;
}
