package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func namespaces(ctx context.Context, c *cluster) error {
	api := c.admin.typed.CoreV1().Namespaces()
	const count = 5
	for i := range count {
		name := fmt.Sprintf("team-%d", i)
		made, err := api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, err = api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err := expectError("the same namespace again", err, apierrors.IsAlreadyExists); err != nil {
			return err
		}
		stale := made.DeepCopy()
		made.Labels["tier"] = "test"
		if _, err = api.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
			return err
		}
		stale.Labels["tier"] = "stale"
		_, err = api.Update(ctx, stale, metav1.UpdateOptions{})
		if err := expectError("an update of an old revision", err, apierrors.IsConflict); err != nil {
			return err
		}
	}
	listed, err := api.List(ctx, metav1.ListOptions{LabelSelector: "tier=test"})
	if err != nil {
		return err
	}
	if len(listed.Items) != count {
		return fmt.Errorf("%d namespaces have the label, not %d", len(listed.Items), count)
	}
	// No controller empties namespaces here: what it does at the end is done by hand.
	const last = "team-4"
	if err := api.Delete(ctx, last, metav1.DeleteOptions{}); err != nil {
		return err
	}
	ending, err := api.Get(ctx, last, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if ending.Status.Phase != corev1.NamespaceTerminating {
		return fmt.Errorf("a deleted namespace is %s", ending.Status.Phase)
	}
	ending.Spec.Finalizers = nil
	if _, err := api.Finalize(ctx, ending, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = api.Get(ctx, last, metav1.GetOptions{})
	return expectError("a finalized namespace", err, apierrors.IsNotFound)
}

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "e2e.example.com", Version: "v1", Resource: "widgets"}
)

const widgetDefinition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "widgets.e2e.example.com"},
  "spec": {
    "group": "e2e.example.com", "scope": "Namespaced",
    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
    "versions": [{
      "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
          "size": {"type": "integer", "minimum": 1}, "colour": {"type": "string"},
          "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"],
              "properties": {"name": {"type": "string"}, "count": {"type": "integer"}}}}}},
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}}
    }]
  }
}`

func parse(text string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	return object, json.Unmarshal([]byte(text), &object.Object)
}

func customResources(ctx context.Context, c *cluster) error {
	definition, err := parse(widgetDefinition)
	if err != nil {
		return err
	}
	if _, err := c.admin.dynamic.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	api := c.admin.dynamic.Resource(widgets).Namespace("team-0")
	apply := func(manager, name, spec string, force bool) (*unstructured.Unstructured, error) {
		body := fmt.Sprintf(`{"apiVersion":"e2e.example.com/v1","kind":"Widget","metadata":{"name":%q},"spec":%s}`, name, spec)
		return api.Patch(ctx, name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: manager, Force: &force})
	}
	err = waitFor(ctx, "the new resource is served", func() (bool, error) {
		_, err := apply("alice", "first", `{"size":1}`, false)
		if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	const count = 50
	for i := range count {
		spec := fmt.Sprintf(`{"size":%d,"parts":[{"name":"a","count":1}]}`, i+1)
		if _, err := apply("alice", fmt.Sprintf("widget-%02d", i), spec, false); err != nil {
			return err
		}
	}
	// Two managers own parts of one list; a field of the other's is a conflict, unless forced.
	if _, err := apply("bob", "widget-00", `{"colour":"red","parts":[{"name":"b","count":2}]}`, false); err != nil {
		return err
	}
	_, err = apply("bob", "widget-00", `{"size":9,"colour":"red","parts":[{"name":"b","count":2}]}`, false)
	if err := expectError("a field of another manager", err, apierrors.IsConflict); err != nil {
		return err
	}
	forced, err := apply("bob", "widget-00", `{"size":9,"colour":"red","parts":[{"name":"b","count":2}]}`, true)
	if err != nil {
		return err
	}
	parts, _, _ := unstructured.NestedSlice(forced.Object, "spec", "parts")
	size, _, _ := unstructured.NestedInt64(forced.Object, "spec", "size")
	if len(parts) != 2 || size != 9 || len(forced.GetManagedFields()) != 2 {
		return fmt.Errorf("after two managers: %d parts, size %d, %d managers", len(parts), size, len(forced.GetManagedFields()))
	}
	// The same again changes nothing, and so takes no revision.
	again, err := apply("bob", "widget-00", `{"size":9,"colour":"red","parts":[{"name":"b","count":2}]}`, true)
	if err != nil {
		return err
	}
	if again.GetResourceVersion() != forced.GetResourceVersion() {
		return fmt.Errorf("an apply without a change took revision %s after %s", again.GetResourceVersion(), forced.GetResourceVersion())
	}
	_, err = apply("alice", "widget-01", `{"size":0}`, true)
	if err := expectError("a value that the schema refuses", err, apierrors.IsInvalid); err != nil {
		return err
	}
	if err := unstructured.SetNestedField(again.Object, true, "status", "ready"); err != nil {
		return err
	}
	ready, err := api.UpdateStatus(ctx, again, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	if isReady, _, _ := unstructured.NestedBool(ready.Object, "status", "ready"); !isReady {
		return fmt.Errorf("the status was not taken")
	}
	listed, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(listed.Items) != count+1 {
		return fmt.Errorf("%d widgets, not %d", len(listed.Items), count+1)
	}
	if err := api.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	listed, err = api.List(ctx, metav1.ListOptions{})
	if err == nil && len(listed.Items) != 0 {
		return fmt.Errorf("%d widgets are left after all were deleted", len(listed.Items))
	}
	return err
}

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: %[2]s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: %[2]s, labels: {app: web}}
data: {replicas: "%[1]d"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: %[2]s, labels: {app: web}}
spec:
  replicas: %[1]d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
---
apiVersion: e2e.example.com/v1
kind: Widget
metadata: {name: gadget, namespace: %[2]s, labels: {app: web}}
spec: {size: %[1]d}
`

func kubectlCommands(ctx context.Context, c *cluster) error {
	return kubectlIn(ctx, c.kubectl, "kubectl")
}

func kubectlIn(ctx context.Context, k *kubectl, namespace string) error {
	manifestOf := func(replicas int) string { return fmt.Sprintf(manifest, replicas, namespace) }
	for _, step := range []struct {
		args     string
		manifest string
		wants    []string
	}{
		{"apply -f -", manifestOf(2), []string{
			"namespace/" + namespace + " created", "configmap/settings created", "deployment.apps/web created", "gadget created"}},
		{"apply -f -", manifestOf(2), []string{"configmap/settings unchanged", "deployment.apps/web unchanged"}},
		{"apply -f -", manifestOf(3), []string{"configmap/settings configured", "deployment.apps/web configured"}},
		{"apply --server-side --force-conflicts --field-manager=e2e -f -", manifestOf(4), []string{"deployment.apps/web serverside-applied"}},
		{"get deployment web -n NAMESPACE -o jsonpath={.spec.replicas}", "", []string{"4"}},
		{"get all,configmaps,widgets -n NAMESPACE -l app=web -o name", "", []string{
			"deployment.apps/web", "configmap/settings", "widget.e2e.example.com/gadget"}},
		{"scale deployment web -n NAMESPACE --replicas=5", "", []string{"deployment.apps/web scaled"}},
		{"wait deployment web -n NAMESPACE --for=jsonpath={.spec.replicas}=5 --timeout=20s", "", []string{"condition met"}},
		{"patch configmap settings -n NAMESPACE --type=merge -p {\"data\":{\"more\":\"yes\"}}", "", []string{"patched"}},
		{"get configmap settings -n NAMESPACE -o jsonpath={.data.more}", "", []string{"yes"}},
		{"diff -f -", manifestOf(5), nil},
		{"delete configmap,deployment,widget -n NAMESPACE -l app=web --wait=true --timeout=30s", "", []string{
			"\"settings\" deleted", "\"web\" deleted", "\"gadget\" deleted"}},
		{"get configmaps -n NAMESPACE -o name", "", nil},
	} {
		said, err := k.run(ctx, step.manifest, strings.Fields(strings.ReplaceAll(step.args, "NAMESPACE", namespace))...)
		// `diff` ends with 1 where there is a difference, and there is one.
		if strings.HasPrefix(step.args, "diff") {
			if err == nil || !strings.Contains(err.Error(), "exit status 1") {
				return fmt.Errorf("kubectl %s saw no difference: %v", step.args, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		for _, want := range step.wants {
			if !strings.Contains(said, want) {
				return fmt.Errorf("kubectl %s said\n%s\nwithout %q", step.args, said, want)
			}
		}
	}
	return nil
}
