/* Preloaded into an interpreter: fails the n-th allocation of the compiled core, of another library,
 * or of the interpreter itself, and counts what the core has allocated and not freed. glibc only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Where the code of a library lies. */
typedef struct {
    const char *name;
    uintptr_t from[512], to[512];
    int count;
} Code;

static Code core, other;
static long left, counted, failed;
static int counting_core, counting_other, counting_python;

static int add_code(struct dl_phdr_info *info, size_t size, void *data) {
    Code *code = data;
    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, code->name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || code->count == 512) continue;
        code->from[code->count] = info->dlpi_addr + part->p_vaddr;
        code->to[code->count++] = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

static int called_from(const Code *code, uintptr_t address) {
    for (int i = 0; i < code->count; i++)
        if (address >= code->from[i] && address < code->to[i]) return 1;
    return 0;
}

/* Whether this allocation is to fail: the `left`-th of those that are counted. */
static int fails(void) {
    counted++;
    if (--left != 0) return 0;
    failed = 1;
    errno = ENOMEM;
    return 1;
}

/* The addresses that the core holds: open addressing, 0 is free, 1 was used. */
#define PLACES (1 << 18)
static uintptr_t held[PLACES];
static long n_held;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t place_of(uintptr_t address) { return (address >> 4) * 0x9E3779B97F4A7C15u >> 46; }

static void *hold(void *memory) {
    if (!memory) return memory;
    pthread_mutex_lock(&lock);
    size_t place = place_of((uintptr_t)memory);
    while (held[place] > 1) place = (place + 1) % PLACES;
    held[place] = (uintptr_t)memory;
    n_held++;
    pthread_mutex_unlock(&lock);
    return memory;
}

static void release(void *memory) {
    pthread_mutex_lock(&lock);
    size_t gap = place_of((uintptr_t)memory);
    while (held[gap] && held[gap] != (uintptr_t)memory) gap = (gap + 1) % PLACES;
    if (held[gap]) {
        n_held--;
        held[gap] = 0;
        /* What lies behind moves into the gap, unless its search begins after it. */
        for (size_t next = (gap + 1) % PLACES; held[next]; next = (next + 1) % PLACES) {
            if ((next - place_of(held[next])) % PLACES < (next - gap) % PLACES) continue;
            held[gap] = held[next];
            held[next] = 0;
            gap = next;
        }
    }
    pthread_mutex_unlock(&lock);
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define OURS (core.count && called_from(&core, CALLER))
#define REFUSED(ours) ((((ours) && counting_core) \
    || (counting_other && called_from(&other, CALLER))) && fails())

#define ALLOCATED(call) \
    int ours = OURS; \
    if (REFUSED(ours)) return NULL; \
    void *memory = call; \
    return ours ? hold(memory) : memory;

void *malloc(size_t size) { ALLOCATED(__libc_malloc(size)) }
void *calloc(size_t n, size_t size) { ALLOCATED(__libc_calloc(n, size)) }
void *aligned_alloc(size_t alignment, size_t size) { ALLOCATED(__libc_memalign(alignment, size)) }

void *realloc(void *old, size_t size) {
    int ours = OURS;
    if (REFUSED(ours)) return NULL;
    void *memory = __libc_realloc(old, size);
    if (ours && memory) {
        if (old) release(old);
        hold(memory);
    }
    return memory;
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    int ours = OURS;
    if (REFUSED(ours)) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    if (ours) hold(*out);
    return *out ? 0 : ENOMEM;
}

void free(void *memory) {
    if (n_held && memory) release(memory);
    __libc_free(memory);
}

/* The interpreter's own allocator, of objects and of their memory (PyMemAllocatorEx). */
typedef struct {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
} Allocator;

static Allocator originals[3];

static void *python_malloc(void *context, size_t size) {
    Allocator *original = context;
    return counting_python && fails() ? NULL : original->malloc(original->context, size);
}

static void *python_calloc(void *context, size_t n, size_t size) {
    Allocator *original = context;
    return counting_python && fails() ? NULL : original->calloc(original->context, n, size);
}

static void *python_realloc(void *context, void *old, size_t size) {
    Allocator *original = context;
    return counting_python && fails() ? NULL : original->realloc(original->context, old, size);
}

static void python_free(void *context, void *memory) {
    Allocator *original = context;
    original->free(original->context, memory);
}

static void hook_python(void) {
    void (*get)(int, Allocator *) = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
    void (*set)(int, Allocator *) = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
    for (int domain = 1; domain < 3; domain++) {
        get(domain, &originals[domain]);
        Allocator hooked = {&originals[domain], python_malloc, python_calloc, python_realloc,
                            python_free};
        set(domain, &hooked);
    }
}

/* Called once, when the core has been imported: with parts of the paths of the core's libraries and
 * of the other's. */
void begin(const char *of_core, const char *of_other) {
    core.name = of_core;
    other.name = of_other;
    dl_iterate_phdr(add_code, &other);
    dl_iterate_phdr(add_code, &core);
    hook_python();
}

/* Fail the n-th allocation (0: none) of a kind: 'c' core, 'o' other library, 'p' interpreter. */
void arm(char kind, long n) {
    left = n;
    counted = failed = 0;
    counting_core = kind == 'c';
    counting_other = kind == 'o';
    counting_python = kind == 'p';
}

/* End the counting; returns whether an allocation failed. */
long disarm(void) {
    counting_core = counting_other = counting_python = 0;
    return failed;
}

long allocations(void) { return counted; }
long core_holds(void) { return n_held; }
int core_parts(void) { return core.count; }
