"""The same burst with APScheduler, as its users run it to survive a restart: jobs in PostgreSQL,
through SQLAlchemy and psycopg2, and a pool of threads. Prints figures as lines of JSON."""

import json
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import create_engine, text

lateness = []
lock = threading.Lock()
released = 0.0


def work():
    late = time.time() - released
    with lock:
        lateness.append(late)


def figure(name, value, unit):
    print(json.dumps({"name": name, "value": value, "unit": unit}), flush=True)


def main(url, jobs, pause):
    global released
    scheduler = BackgroundScheduler(
        jobstores={"default": SQLAlchemyJobStore(url=url, tablename="apscheduler_jobs")},
        executors={"default": ThreadPoolExecutor(20)},
        job_defaults={"misfire_grace_time": 24 * 3600, "coalesce": False, "max_instances": 1},
        timezone=timezone.utc,
    )
    # Paused, so that none is due before all are there.
    scheduler.start(paused=True)
    due = datetime.now(timezone.utc) + timedelta(seconds=1)
    begin = time.time()
    for i in range(jobs):
        scheduler.add_job(work, "date", run_date=due, id=f"post_{i}")
    figure("put", jobs / (time.time() - begin), "jobs/s")
    time.sleep(max(pause, due.timestamp() - time.time()))

    table = create_engine(url)
    released = time.time()
    scheduler.resume()
    while True:
        time.sleep(0.02)
        with lock:
            begun = len(lateness)
        if begun < jobs:
            continue
        with table.connect() as connection:
            if connection.execute(text("SELECT count(*) FROM apscheduler_jobs")).scalar() == 0:
                break
    took = time.time() - released
    lateness.sort()
    figure("burst", jobs / took, "runs/s")
    figure("burst p99 lateness", 1000 * lateness[int(0.99 * jobs)], "ms")
    scheduler.shutdown(wait=False)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
