-- Who made it, as type, realm and id: it is good as long as they may make it still. Null: an older replica did, and it is good no more.
alter table enrolment_link add column made_by jsonb;
