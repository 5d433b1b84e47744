// Test a model on a stream, then teach it, sample by sample; save it at the end.
//
//	stream MODEL SAVED < rows
//
// A line has the label of a sample and its features, with spaces between.
package main

// #cgo LDFLAGS: -lonlinekern -lm
// #include <okn.h>
// #include <stdlib.h>
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// Model is a classifier. Two goroutines must not use it at once.
type Model struct {
	raw    *C.okn_t
	labels []string
}

// Open reads a file of save. Close frees the model.
func Open(path string) (*Model, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	model := &Model{}
	if err := model.checked(C.okn_open(name, &model.raw)); err != nil {
		model.Close()
		return nil, err
	}
	for k := C.int32_t(0); k < C.okn_n_classes(model.raw); k++ {
		model.labels = append(model.labels, C.GoString(C.okn_label(model.raw, k)))
	}
	return model, nil
}

func (model *Model) Close() { C.okn_close(model.raw) }

func (model *Model) checked(status C.int) error {
	if status >= 0 {
		return nil
	}
	return fmt.Errorf("%s", C.GoString(C.okn_error(model.raw)))
}

func (model *Model) row(x []float64) (*C.double, error) {
	if n := int(C.okn_n_features(model.raw)); len(x) != n {
		return nil, fmt.Errorf("a row has %d features, not %d", len(x), n)
	}
	return (*C.double)(unsafe.Pointer(&x[0])), nil
}

// Predict returns the label of a row.
func (model *Model) Predict(x []float64) (string, error) {
	row, err := model.row(x)
	if err != nil {
		return "", err
	}
	number := C.okn_predict(model.raw, row)
	if err := model.checked(C.int(number)); err != nil {
		return "", err
	}
	return model.labels[number], nil
}

// Learn teaches one sample.
func (model *Model) Learn(x []float64, label string) error {
	row, err := model.row(x)
	if err != nil {
		return err
	}
	for k, own := range model.labels {
		if own == label {
			return model.checked(C.okn_learn(model.raw, row, C.double(k)))
		}
	}
	return fmt.Errorf("no class is %q", label)
}

// Save writes the model for this library, or for Python.
func (model *Model) Save(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	return model.checked(C.okn_save(model.raw, name))
}

func parse(words []string) ([]float64, error) {
	x := make([]float64, len(words))
	for j, word := range words {
		value, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, err
		}
		x[j] = value
	}
	return x, nil
}

func run(path, saved string) error {
	model, err := Open(path)
	if err != nil {
		return err
	}
	defer model.Close()
	wrong, n := 0, 0
	lines := bufio.NewScanner(os.Stdin)
	for ; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			return fmt.Errorf("an empty line")
		}
		x, err := parse(words[1:])
		if err != nil {
			return err
		}
		predicted, err := model.Predict(x)
		if err != nil {
			return err
		}
		if predicted != words[0] {
			wrong++
		}
		if err := model.Learn(x, words[0]); err != nil {
			return err
		}
	}
	fmt.Printf("%d of %d wrong\n", wrong, n)
	return model.Save(saved)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "stream MODEL SAVED < rows")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
