// In place of grafonnet, the library with which etcd's mixin makes its dashboards, and which is no Go module: what the mixin calls of it.
// Titles, panels and expressions are kept, and how a panel looks is left out.
local panel = {
  new(title): { title: title },
  queryOptions: {
    withTargets(targets): { targets: if std.isArray(targets) then targets else [targets] },
    withInterval(_): {},
  },
  options: {
    withColorMode(_): {},
    withGraphMode(_): {},
    reduceOptions: { withCalcs(_): {} },
  },
  standardOptions: { withUnit(_): {} },
  fieldConfig: {
    defaults: {
      custom: {
        withLineWidth(_): {},
        withFillOpacity(_): {},
        withShowPoints(_): {},
      },
    },
  },
  fieldOverride: {},
};

{
  dashboard: {
    new(title): { title: title },
    withUid(_): {},
    withRefresh(_): {},
    withDescription(_): {},
    withTags(_): {},
    withVariables(_): {},
    withPanels(panels): { panels: panels },
    time: {
      withFrom(_): {},
      withTo(_): {},
    },
    variable: {
      datasource: {
        new(name, _): { name: name },
        generalOptions: { withLabel(_): {} },
      },
      query: {
        new(name): { name: name },
        generalOptions: { withLabel(_): {} },
        withDatasourceFromVariable(_): {},
        queryTypes: { withLabelValues(_label, _metric): {} },
      },
    },
  },
  panel: {
    stat: panel,
    timeSeries: panel,
  },
  query: {
    prometheus: {
      new(_, expr): { expr: expr },
      withLegendFormat(_): {},
    },
  },
}
