/* The choice of the instruction set, made once at import (see vector.h). */
#include "onlinekern/vector.h"

#include <string.h>

extern const ok_vector_table ok_vector_baseline;
#ifdef OK_X86_LEVELS
extern const ok_vector_table ok_vector_v3;
extern const ok_vector_table ok_vector_v4;

static int runs_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static int runs_v4(void)
{
    return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl");
}
#endif

const ok_vector_table *ok_vector_select(const char *name)
{
#ifdef OK_X86_LEVELS
    __builtin_cpu_init();
    if (runs_v4() && (name == NULL || strcmp(name, ok_vector_v4.name) == 0))
        return &ok_vector_v4;
    if (runs_v3() && (name == NULL || strcmp(name, ok_vector_v3.name) == 0))
        return &ok_vector_v3;
#endif
    if (name == NULL || strcmp(name, ok_vector_baseline.name) == 0)
        return &ok_vector_baseline;
    return NULL;
}
