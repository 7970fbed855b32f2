package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// addon is what carries one identifier. Its summary is made when somebody
// asks, so that a burst of changes of a large one costs little.
type addon struct {
	identifier string
	objects    map[types.UID]*component
	made       *summary
}

// summary is what is served of an add-on.
type summary struct {
	Identifier string `json:"identifier"`
	Health     health `json:"health"`
	Ready      string `json:"ready"`
	Components int    `json:"components"`
	Version    string `json:"version,omitempty"`
}

// object is what is served of a component.
type object struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Install   string `json:"install,omitempty"`
	Health    health `json:"health"`
	Message   string `json:"message,omitempty"`
}

func newAddon(identifier string) *addon {
	return &addon{identifier: identifier, objects: map[types.UID]*component{}}
}

func (a *addon) add(object *component) {
	a.objects[object.uid] = object
	a.made = nil
}

// remove tells whether nothing is left.
func (a *addon) remove(object *component) bool {
	if a.objects[object.uid] == object {
		delete(a.objects, object.uid)
	}
	a.made = nil
	return len(a.objects) == 0
}

// derived tells whether an object carries the label only because a controller
// copied it from another. Who copies labels copies them at every step down, so
// the direct owner is enough.
func (a *addon) derived(object *component) bool {
	return object.owner != "" && a.objects[object.owner] != nil
}

func (a *addon) summary() summary {
	if a.made == nil {
		fresh := a.summarise()
		a.made = &fresh
	}
	return *a.made
}

func (a *addon) summarise() summary {
	worst, healthy, total := current, 0, 0
	versions := map[string]bool{}
	for _, object := range a.objects {
		if a.derived(object) {
			continue
		}
		total++
		worst = max(worst, object.health)
		if object.health == current {
			healthy++
		}
		if object.version != "" {
			versions[object.version] = true
		}
	}
	if total == 0 {
		worst = unknown
	}
	return summary{
		Identifier: a.identifier,
		Health:     worst,
		Ready:      fmt.Sprintf("%d/%d", healthy, total),
		Components: total,
		Version:    strings.Join(slices.Sorted(maps.Keys(versions)), ", "),
	}
}

// list gives the components, worst first, then by kind and name.
func (a *addon) list() []object {
	components := make([]*component, 0, len(a.objects))
	for _, object := range a.objects {
		if !a.derived(object) {
			components = append(components, object)
		}
	}
	slices.SortFunc(components, func(x, y *component) int {
		return cmp.Or(
			cmp.Compare(y.health, x.health),
			cmp.Compare(x.kind.Group, y.kind.Group),
			cmp.Compare(x.kind.Kind, y.kind.Kind),
			cmp.Compare(x.namespace, y.namespace),
			cmp.Compare(x.name, y.name),
		)
	})
	objects := make([]object, len(components))
	for n, c := range components {
		objects[n] = object{c.kind.Group, c.kind.Kind, c.namespace, c.name, c.memberships[a.identifier], c.health, c.message}
	}
	return objects
}
