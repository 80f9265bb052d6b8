-- Whether somebody of the realm has signed in with a device, whoever it was.
create index known_device_of_anybody on known_device (realm_id, device_hash);
