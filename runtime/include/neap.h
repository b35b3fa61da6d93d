/*
 * The C API of neap's runtime: load a compiled model (.neap) and run it.
 *
 * Functions that can fail return 0 on success and -1 on failure; neap_last_error() then says what, in one line.
 * A neap_model may be used by several threads at once; a neap_session by one thread at a time. Sessions of one model
 * share its code and weights. A run neither allocates memory nor takes a lock.
 *
 * Link with -lneap_runtime; the static library also needs -lpthread -ldl -lm.
 */
#ifndef NEAP_H
#define NEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. A bool is one byte, 0 or 1. */
typedef enum neap_dtype {
    NEAP_F32 = 0,
    NEAP_F64 = 1,
    NEAP_F16 = 2,
    NEAP_BF16 = 3,
    NEAP_I8 = 4,
    NEAP_I16 = 5,
    NEAP_I32 = 6,
    NEAP_I64 = 7,
    NEAP_U8 = 8,
    NEAP_U16 = 9,
    NEAP_U32 = 10,
    NEAP_U64 = 11,
    NEAP_BOOL = 12
} neap_dtype;

/* Checksum the weights too when loading, which reads all of them. */
#define NEAP_CHECK_WEIGHTS 1u
/* Overwrite dead memory while running, to find wrong reads; slow. */
#define NEAP_POISON 2u

typedef struct neap_model neap_model;
typedef struct neap_session neap_session;

/* An input or output. The pointers stay valid until the model is freed. */
typedef struct neap_tensor {
    const char *name;
    uint32_t dtype; /* a neap_dtype */
    uint32_t rank;
    const uint64_t *dims; /* rank sizes */
    uint64_t bytes;
} neap_tensor;

/* A caller's buffer: row-major elements, aligned to an element. */
typedef struct neap_input {
    const void *data;
    size_t bytes;
} neap_input;

typedef struct neap_output {
    void *data;
    size_t bytes;
} neap_output;

/* What went wrong last on this thread; valid until the next failing call on it. Never null. */
const char *neap_last_error(void);

/* Loads a model. flags: 0 or NEAP_CHECK_WEIGHTS. The file must not be changed in place while it is loaded. */
int neap_model_load(const char *path, uint32_t flags, neap_model **model);

/* Frees a model; sessions of it keep what they need. Null is ignored. */
void neap_model_free(neap_model *model);

/* How many inputs and outputs there are. */
size_t neap_model_input_count(const neap_model *model);
size_t neap_model_output_count(const neap_model *model);

/* Describes an input or output by position. */
int neap_model_input(const neap_model *model, size_t index, neap_tensor *tensor);
int neap_model_output(const neap_model *model, size_t index, neap_tensor *tensor);

/* Makes a session. threads: 0 for one a core. flags: 0 or NEAP_POISON. */
int neap_session_new(const neap_model *model, uint32_t threads, uint32_t flags, neap_session **session);

/* Ends a session. Null is ignored. */
void neap_session_free(neap_session *session);

/* Bytes of memory the session holds for intermediates and scratch. */
uint64_t neap_session_arena_bytes(const neap_session *session);

/* Runs the model. The arrays have one entry for each input and output, in the model's order; no output may lie in the
 * memory of another buffer. */
int neap_session_run(neap_session *session, const neap_input *inputs, size_t input_count, const neap_output *outputs,
                     size_t output_count);

/* For a model compiled with --hold-outputs: neap_session_run with no outputs (NULL, 0) leaves them in the session's arena
 * and copies nothing. This says where one lies; it is valid until the next run. */
int neap_session_output(const neap_session *session, size_t index, neap_input *output);

#ifdef __cplusplus
}
#endif

#endif
