-- Every statement reads all rows of an import; keeping the key cost as much as writing the rows.
alter table import_user drop constraint import_user_pkey;
