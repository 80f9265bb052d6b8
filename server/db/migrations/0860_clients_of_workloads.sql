-- What a workload identity is for, and whether its tokens authenticate a client once.
alter table workload_identity add column use text not null default 'exchange';
alter table workload_identity add column single_use boolean;
