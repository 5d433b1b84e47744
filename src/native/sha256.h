/* SHA-256 (FIPS 180-4). */
#ifndef OKN_SHA256_H
#define OKN_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
} sha256;

void okn_sha256_begin(sha256 *own);
void okn_sha256_add(sha256 *own, const void *bytes, size_t size);
/* 64 digits and a zero. */
void okn_sha256_end(sha256 *own, char digits[65]);

#endif
