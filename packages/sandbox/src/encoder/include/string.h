/* There is no C library: the compiler expands these calls. */
#pragma once
#include <stddef.h>
#define memcpy __builtin_memcpy
#define memmove __builtin_memmove
#define memset __builtin_memset
