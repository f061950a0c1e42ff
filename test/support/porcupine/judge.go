// Judges whether a history of requests is linearizable (test/support/porcupine.ts): whether each took effect at one moment between
// its call and its return. Reads the history from stdin, as a list in JSON, and says on stdout what does not hold. The first
// argument names a file for a picture of that.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

type answer struct {
	Status   int
	Revision int64
	Value    string
}

// A request about one register: a delivery block, or the access of one person to one website.
type operation struct {
	Register string
	Client   int
	Does     string
	Value    string
	// The revision that If-Match names.
	Expects *int64
	Call    int64
	Return  int64
	// None: it may have taken effect at any time after its call, or never.
	Answer *answer
}

// What a register holds. The revision is a delivery block's, the value what it says, or the role of the person.
type state struct {
	Revision int64
	Value    string
}

const nothing = ""

// The answer of the service when it is asked in this state, and what it leaves.
func handled(before state, asked operation) (answer, state) {
	switch asked.Does {
	case "readBlock":
		if before.Revision < 0 {
			return answer{Status: 404}, before
		}
		return answer{200, before.Revision, before.Value}, before
	case "replaceBlock":
		if asked.Expects != nil && *asked.Expects != before.Revision {
			return answer{Status: 400}, before
		}
		after := before
		if asked.Value != before.Value {
			after = state{before.Revision + 1, asked.Value}
		}
		return answer{200, after.Revision, after.Value}, after
	case "see":
		if before.Value == nothing {
			return answer{Status: 403}, before
		}
		return answer{Status: 200, Value: before.Value}, before
	case "link":
		status := 200
		if before.Value == nothing {
			status = 201
		}
		return answer{Status: status, Value: asked.Value}, state{before.Revision, asked.Value}
	case "changeRole":
		if before.Value == nothing {
			return answer{Status: 404}, before
		}
		return answer{Status: 200, Value: asked.Value}, state{before.Revision, asked.Value}
	case "unlink":
		if before.Value == nothing {
			return answer{Status: 404}, before
		}
		return answer{Status: 204}, state{before.Revision, nothing}
	}
	panic("unknown operation " + asked.Does)
}

var model = porcupine.Model{
	Init: func() interface{} { return state{Revision: -1} },
	Step: func(before, input, output interface{}) (bool, interface{}) {
		asked := input.(operation)
		expected, after := handled(before.(state), asked)
		return asked.Answer == nil || *asked.Answer == expected, after
	},
	DescribeOperation: func(input, output interface{}) string { return input.(operation).String() },
	DescribeState:     func(now interface{}) string { return fmt.Sprintf("%+v", now) },
}

func (asked operation) String() string {
	text := fmt.Sprintf("%d..%d client %d %s %s", asked.Call, asked.Return, asked.Client, asked.Does, asked.Value)
	if asked.Expects != nil {
		text += fmt.Sprintf(" if at %d", *asked.Expects)
	}
	if asked.Answer == nil {
		return text + ": no answer"
	}
	return text + fmt.Sprintf(": %+v", *asked.Answer)
}

func main() {
	var asked []operation
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	registers := map[string][]porcupine.Operation{}
	end := int64(0)
	for _, one := range asked {
		if one.Return > end {
			end = one.Return
		}
	}
	for _, one := range asked {
		if one.Answer == nil {
			one.Return = end + 1
		}
		registers[one.Register] = append(registers[one.Register],
			porcupine.Operation{ClientId: one.Client, Input: one, Call: one.Call, Return: one.Return})
	}
	names := make([]string, 0, len(registers))
	for name := range registers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		judge(name, registers[name])
	}
}

func judge(name string, history []porcupine.Operation) {
	switch result, info := porcupine.CheckOperationsVerbose(model, history, time.Minute); result {
	case porcupine.Ok:
	case porcupine.Unknown:
		fmt.Printf("%s: could not be judged in a minute\n", name)
	case porcupine.Illegal:
		fmt.Printf("%s is not linearizable\n", name)
		describe(info, history)
		if len(os.Args) > 1 {
			if err := porcupine.VisualizePath(model, info, os.Args[1]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Printf("  see %s\n", os.Args[1])
		}
	}
}

// The longest order that could be found, and what is left: what was asked first of that fits nowhere.
func describe(info porcupine.LinearizationInfo, history []porcupine.Operation) {
	var longest []porcupine.Operation
	for _, orders := range info.PartialLinearizationsOperations() {
		for _, order := range orders {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	placed := map[int64]bool{}
	for _, one := range longest {
		placed[one.Call] = true
	}
	from := 0
	if len(longest) > 8 {
		from = len(longest) - 8
	}
	for _, one := range longest[from:] {
		fmt.Printf("  %s\n", one.Input.(operation))
	}
	left := []porcupine.Operation{}
	for _, one := range history {
		if !placed[one.Call] {
			left = append(left, one)
		}
	}
	sort.Slice(left, func(a, b int) bool { return left[a].Call < left[b].Call })
	for index, one := range left {
		if index == 8 {
			break
		}
		fmt.Printf("  fits nowhere, or later: %s\n", one.Input.(operation))
	}
}
