-- Realms that are there go on taking the passwords that they took; fresh ones refuse those that are easy to guess.
update realm set settings = settings || '{"guessablePasswordCheck": false}' where not settings ? 'guessablePasswordCheck';
