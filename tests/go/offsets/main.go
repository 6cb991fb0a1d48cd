// SPDX-License-Identifier: MIT

// Prints offsets of members by Go's own DWARF reader. Arguments: the binary. Each line of the input is
// "type member", where member may be a path such as stats[1].largeAlloc, or missing for the size of the type;
// each line of the output is a number, or -1 if there is no such thing.
package main

import (
	"bufio"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func bare(t dwarf.Type) dwarf.Type {
	for {
		switch u := t.(type) {
		case *dwarf.TypedefType:
			t = u.Type
		case *dwarf.QualType:
			t = u.Type
		default:
			return t
		}
	}
}

func find(t dwarf.Type, path string) int64 {
	var at int64
	for path != "" {
		t = bare(t)
		if path[0] == '[' {
			array, ok := t.(*dwarf.ArrayType)
			end := strings.IndexByte(path, ']')
			if !ok || end < 0 {
				return -1
			}
			index, _ := strconv.ParseInt(path[1:end], 10, 64)
			at += index * array.Type.Size()
			t, path = array.Type, path[end+1:]
			continue
		}
		path = strings.TrimPrefix(path, ".")
		name := path
		if end := strings.IndexAny(path, ".["); end >= 0 {
			name = path[:end]
		}
		structure, ok := t.(*dwarf.StructType)
		if !ok {
			return -1
		}
		var field *dwarf.StructField
		for _, f := range structure.Field {
			if strings.EqualFold(f.Name, name) { // case may change between versions
				field = f
				break
			}
		}
		if field == nil {
			return -1
		}
		at += field.ByteOffset
		t, path = field.Type, path[len(name):]
	}
	return at
}

func main() {
	file, err := elf.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	data, err := file.DWARF()
	if err != nil {
		panic(err)
	}
	types := map[string]dwarf.Type{}
	reader := data.Reader()
	for {
		entry, err := reader.Next()
		if err != nil {
			panic(err)
		}
		if entry == nil {
			break
		}
		if entry.Tag == dwarf.TagStructType {
			name, _ := entry.Val(dwarf.AttrName).(string)
			if _, known := types[name]; !known {
				if t, err := data.Type(entry.Offset); err == nil {
					types[name] = t
				}
			}
		}
		if entry.Tag != dwarf.TagCompileUnit {
			reader.SkipChildren()
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name, member, _ := strings.Cut(lines.Text(), " ")
		t, known := types[name]
		switch {
		case !known:
			fmt.Println(-1)
		case member == "":
			fmt.Println(t.Size())
		default:
			fmt.Println(find(t, member))
		}
	}
}
