// The dashboards of etcd's mixin, for Grafana as it is and for its version 7, by the label that tells clusters apart.
local dashboard(label, grafana7x) = (
  (import 'config.libsonnet') +
  (import 'dashboards/dashboards.libsonnet') +
  { _config+:: { clusterLabel: label, grafana7x: grafana7x } }
).grafanaDashboards['etcd.json'];

{ [label]: [dashboard(label, false), dashboard(label, true)] for label in ['job', 'cluster'] }
