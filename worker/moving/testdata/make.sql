create table content_pieces (id uuid primary key, user_id int, title text, text text, content_type varchar(50), platform varchar(50), hashtags text[], mentions text[], media_urls jsonb, call_to_action text, status varchar(30));
create table scheduled_posts (id serial primary key, user_id int, content_id uuid, platform varchar(50), account_id int, account_type varchar(50), scheduled_time timestamp, published_at timestamp, status varchar(30), platform_post_id varchar(255), error_message text, publish_options jsonb, created_at timestamp, updated_at timestamp);
create table auto_posting_rules (id serial primary key, user_id int, name varchar(255), description text, schedule_type varchar(50), schedule_config jsonb, content_config jsonb, platforms jsonb, accounts jsonb, content_types jsonb, is_active boolean, is_paused boolean, max_posts_per_day int, max_posts_per_week int, total_executions int, successful_executions int, failed_executions int, last_execution_at timestamp, next_execution_at timestamp, created_at timestamp, updated_at timestamp);
create table userbot_tasks (id bigserial primary key, created_at timestamptz, run_at timestamptz, status text, attempts int, last_error text, target_chat_ids bigint[], storage_chat_id bigint, storage_message_id bigint, storage_message_ids bigint[], sent_count int, error_count int, dedupe_key text);
create table chats (chat_id bigint primary key, disabled boolean, last_bot_post_msg_id bigint, user_messages_since_last_post int, last_error text, last_success_post_at timestamptz);
create table accounts (id serial primary key, username text, site text, note text, tag text, status text, checked_at timestamp);
insert into content_pieces values
 ('6f1c2a1e-0d51-4b59-9a55-000000000001',1,'Утро','Доброе утро, "город"!'||E'\nВторая строка, с запятой',  'post','telegram','{утро,"двор наш"}','{@anna}','[]','Заходите на огонёк','approved'),
 ('6f1c2a1e-0d51-4b59-9a55-000000000002',1,'Tower','The tower at noon','post','instagram','{tower}',null,'["https://media.example/tower.jpg"]',null,'approved'),
 ('6f1c2a1e-0d51-4b59-9a55-000000000003',1,'Empty','', 'post','telegram',null,null,null,null,'draft');
insert into scheduled_posts (user_id,content_id,platform,account_id,account_type,scheduled_time,published_at,status,platform_post_id,error_message,publish_options,created_at,updated_at) values
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','telegram',null,null,'2027-01-05 09:30:00',null,'scheduled',null,null,'{"parse_mode":"HTML","disable_notification":true}','2026-11-01 08:00:00.123456','2026-11-01 08:00:00'),
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','telegram',7,'channel','2025-11-14 12:01:00','2025-11-14 12:01:04.5','published','4711',null,null,'2025-11-14 11:00:00','2025-11-14 12:01:04'),
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','telegram',null,null,'2025-11-14 12:02:00',null,'failed',null,'Chat not found, "sorry"','{}','2025-11-14 11:00:00','2025-11-14 12:01:04'),
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','telegram',null,null,'2025-11-14 12:03:00',null,'scheduled',null,null,null,'2025-11-14 11:00:00','2025-11-14 12:01:04'),
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','telegram',null,null,'2027-11-14 12:03:00',null,'cancelled',null,null,null,'2025-11-14 11:00:00','2025-11-14 12:01:04'),
 (1,'6f1c2a1e-0d51-4b59-9a55-00000000000f','telegram',null,null,'2027-11-14 12:03:00',null,'scheduled',null,null,null,'2025-11-14 11:00:00','2025-11-14 12:01:04'),
 (1,'6f1c2a1e-0d51-4b59-9a55-000000000001','vk',null,null,'2027-11-14 12:03:00',null,'scheduled',null,null,null,'2025-11-14 11:00:00','2025-11-14 12:01:04');
insert into auto_posting_rules (user_id,name,description,schedule_type,schedule_config,content_config,platforms,accounts,content_types,is_active,is_paused,max_posts_per_day,total_executions,successful_executions,failed_executions,last_execution_at,created_at) values
 (1,'Каждый день','заметка','daily','{"times":["12:05"],"days_of_week":[1,2,3,4,5,6,7]}','{"title":"Ежедневный пост","description":"Пост о технологиях","tone":"warm"}','["telegram"]','[]','["post"]',true,false,3,12,10,2,'2026-11-20 12:05:03','2026-01-01'),
 (1,'Paused one',null,'weekly','{"day_of_week":1,"time":"09:00","timezone":"Europe/Moscow"}','{"title":"Monday"}','["telegram"]',null,null,true,true,null,0,0,0,null,'2026-01-01'),
 (1,'Odd one',null,'hourly','{}','{"title":"x"}','["telegram"]',null,null,true,false,null,0,0,0,null,'2026-01-01');
insert into userbot_tasks (created_at,run_at,status,attempts,last_error,target_chat_ids,storage_chat_id,storage_message_id,storage_message_ids,sent_count,error_count,dedupe_key) values
 ('2026-11-01 10:00+03','2026-12-01 10:00+03','pending',0,null,'{-1001234567890,-100987}',-1001,5,'{5,6}',0,0,'a'),
 ('2025-11-01 10:00+03','2025-11-01 10:00+03','done',1,'one failed','{-1001234567890,-100987}',-1001,5,'{5}',1,1,'b'),
 ('2025-11-01 10:00+03','2025-11-01 10:00+03','processing',1,null,'{-1001234567890,-100987}',-1001,5,'{5}',1,0,'c'),
 ('2025-11-01 10:00+03','2025-11-01 10:00+03','pending',0,null,'{-1001234567890}',-1001,5,'{5}',0,0,'d');
insert into chats values (-1001234567890,false,77,4,null,'2026-11-20 09:00:00.5+00'),(-100987,true,null,0,'CHAT_WRITE_FORBIDDEN',null),(4242,false,null,0,null,null);
insert into accounts (username,site,note,tag,status,checked_at) values ('@anna.writes','instagram','соседка, "пишет"','friends','found','2026-11-20 09:00'),('morning.news',null,null,null,'pending',null),('not a name!',null,null,null,'pending',null);
