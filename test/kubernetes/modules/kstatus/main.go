// Command kstatus says what Kubernetes' tools think of objects: reads JSON objects from standard input, one after
// another, and prints a JSON line for each: the verdict of kstatus (Flux, Helm, kpt), and with -lua SCRIPT that of an
// Argo CD health check as well.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	flux "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdict struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message"`
	// Flux is what Flux's own fork of the library says; Helm uses that one too.
	Flux string `json:"flux"`
	Argo *argo  `json:"argo,omitempty"`
}

type argo struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	script := flag.String("lua", "", "file with an Argo CD health check")
	flag.Parse()
	if err := run(*script, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(script string, in io.Reader, out io.Writer) error {
	objects, verdicts := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var raw json.RawMessage
		if err := objects.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw); err != nil {
			return err
		}
		judged, err := judge(object, script)
		if err != nil {
			return err
		}
		if err := verdicts.Encode(judged); err != nil {
			return err
		}
	}
}

func judge(object *unstructured.Unstructured, script string) (*verdict, error) {
	result, err := status.Compute(object)
	if err != nil {
		return nil, err
	}
	ofFlux, err := flux.Compute(object)
	if err != nil {
		return nil, err
	}
	judged := &verdict{
		Kind:    object.GetKind(),
		Name:    object.GetName(),
		Status:  string(result.Status),
		Message: result.Message,
		Flux:    string(ofFlux.Status),
	}
	if script != "" {
		judged.Argo, err = health(object, script)
	}
	return judged, err
}

// health runs a check as Argo CD does: what is being deleted is never handed to it, the object is the global `obj`, the
// libraries are those of base, package and table alone, and there is a second for it.
func health(object *unstructured.Unstructured, script string) (*argo, error) {
	if object.GetDeletionTimestamp() != nil {
		return &argo{Status: "Progressing", Message: "Pending deletion"}, nil
	}
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	libraries := map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	}
	for _, name := range []string{lua.LoadLibName, lua.BaseLibName, lua.TabLibName} {
		open := lua.P{Fn: vm.NewFunction(libraries[name]), Protect: true}
		if err := vm.CallByParam(open, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	vm.SetContext(limit)
	vm.SetGlobal("obj", value(vm, object.Object))
	if err := vm.DoFile(script); err != nil {
		return nil, err
	}
	table, ok := vm.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the health check gave a %s, not a table", vm.Get(-1).Type())
	}
	return &argo{Status: text(table, "status"), Message: text(table, "message")}, nil
}

func text(table *lua.LTable, key string) string {
	if found, ok := table.RawGetString(key).(lua.LString); ok {
		return string(found)
	}
	return ""
}

func value(vm *lua.LState, of any) lua.LValue {
	switch known := of.(type) {
	case bool:
		return lua.LBool(known)
	case string:
		return lua.LString(known)
	case int64:
		return lua.LNumber(known)
	case float64:
		return lua.LNumber(known)
	case []any:
		list := vm.NewTable()
		for _, item := range known {
			list.Append(value(vm, item))
		}
		return list
	case map[string]any:
		table := vm.NewTable()
		for key, item := range known {
			table.RawSetString(key, value(vm, item))
		}
		return table
	}
	return lua.LNil
}
