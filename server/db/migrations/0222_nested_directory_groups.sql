-- Groups in groups of a directory: followed only where somebody says so.
update directory set groups = groups || '{"nested": false}' where groups is not null;
