/*
 * Loads a compiled model and runs it: run MODEL.neap [INPUT ...]
 *
 * Each INPUT is a file with the raw bytes of one input, in the model's order; inputs not given are zero.
 *
 *   cc run.c -I ../../include -L TARGET_DIR -lneap_runtime -o run
 */
#include <neap.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static void print_tensor(const char *kind, const neap_tensor *t) {
    printf("%s %s: dtype %u [", kind, t->name, t->dtype);
    for (uint32_t d = 0; d < t->rank; d++) {
        printf(d ? ", %llu" : "%llu", (unsigned long long)t->dims[d]);
    }
    printf("]\n");
}

static int read_file(const char *path, void *data, size_t bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return -1;
    }
    size_t got = fread(data, 1, bytes, file);
    int more = fgetc(file) != EOF;
    fclose(file);
    return got == bytes && !more ? 0 : -1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        return fail("usage: run MODEL.neap [INPUT ...]");
    }
    neap_model *model;
    if (neap_model_load(argv[1], 0, &model)) {
        return fail(neap_last_error());
    }
    size_t input_count = neap_model_input_count(model), output_count = neap_model_output_count(model);
    neap_input *inputs = calloc(input_count + 1, sizeof *inputs);
    neap_output *outputs = calloc(output_count + 1, sizeof *outputs);
    neap_tensor tensor;
    for (size_t i = 0; i < input_count; i++) {
        if (neap_model_input(model, i, &tensor)) {
            return fail(neap_last_error());
        }
        print_tensor("input", &tensor);
        void *data = calloc(tensor.bytes + 1, 1);
        if ((int)i + 2 < argc && read_file(argv[i + 2], data, tensor.bytes)) {
            return fail("an input file cannot be read or has not the size of the input");
        }
        inputs[i].data = data;
        inputs[i].bytes = tensor.bytes;
    }
    for (size_t i = 0; i < output_count; i++) {
        if (neap_model_output(model, i, &tensor)) {
            return fail(neap_last_error());
        }
        outputs[i].data = calloc(tensor.bytes + 1, 1);
        outputs[i].bytes = tensor.bytes;
    }

    neap_session *session;
    if (neap_session_new(model, 2, 0, &session)) {
        return fail(neap_last_error());
    }
    if (neap_session_run(session, inputs, input_count, outputs, output_count)) {
        return fail(neap_last_error());
    }
    printf("arena: %llu bytes\n", (unsigned long long)neap_session_arena_bytes(session));
    for (size_t i = 0; i < output_count; i++) {
        neap_model_output(model, i, &tensor);
        print_tensor("output", &tensor);
        if (tensor.dtype == NEAP_F32) {
            for (size_t k = 0; k < 4 && k < tensor.bytes / sizeof(float); k++) {
                printf("  %g\n", ((float *)outputs[i].data)[k]);
            }
        }
    }

    neap_session_free(session);
    neap_model_free(model);
    for (size_t i = 0; i < input_count; i++) {
        free((void *)inputs[i].data);
    }
    for (size_t i = 0; i < output_count; i++) {
        free(outputs[i].data);
    }
    free(inputs);
    free(outputs);
    return 0;
}
