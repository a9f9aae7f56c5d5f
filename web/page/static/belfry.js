// Live updates rest while nobody looks: a browser opens only a few connections to one server, and
// each live page holds one of them.
(function () {
  'use strict';
  // What was just done is said once: not when the page is loaded again, and not beside later news.
  var here = new URL(location.href);
  if (here.searchParams.has('done')) {
    here.searchParams.delete('done');
    history.replaceState(history.state, '', here);
  }
  // What is chosen in a list stays so when the list is shown anew.
  var chosen = [];
  document.addEventListener('htmx:sseBeforeMessage', function () {
    chosen = Array.from(document.querySelectorAll('[form="bulk"]:checked'), function (box) { return box.value; });
  });
  document.addEventListener('htmx:sseMessage', function () {
    // From now on the page differs from the marks that it came with: a new stream begins with all of its parts.
    var live = document.getElementById('live');
    live.setAttribute('sse-connect', live.getAttribute('sse-connect').replace(/([?&])have=[^&]*/, '$1'));
    var done = document.getElementById('done');
    if (done) done.remove();
    document.querySelectorAll('[form="bulk"]').forEach(function (box) {
      if (chosen.indexOf(box.value) >= 0) box.checked = true;
    });
  });
  // A second click sends nothing while the first one is answered, also where the form was shown anew meanwhile.
  var sent = {};
  document.addEventListener('submit', function (e) {
    var to = e.target.getAttribute('action');
    if (e.defaultPrevented || e.target.method !== 'post') return;
    if (e.timeStamp - sent[to] < 10000) e.preventDefault();
    else sent[to] = e.timeStamp;
  });
  window.addEventListener('pageshow', function () { sent = {}; });
  // A form that was refused shows what is wrong first: it may be far below.
  var wrong = document.querySelector('[aria-invalid="true"], form p.wrong:not([role])');
  if (wrong) {
    wrong.focus({ preventScroll: true });
    wrong.scrollIntoView({ block: 'center' });
  }
  // The browser knows its zone; the server does not.
  var zone = document.getElementById('timezone');
  if (zone && !zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  var source = null;
  htmx.createEventSource = function (url) {
    source = new EventSource(url);
    if (document.hidden) source.close(); // a tab that was opened behind this one
    return source;
  };
  document.addEventListener('visibilitychange', function () {
    var live = document.getElementById('live');
    if (!live) return;
    if (document.hidden) {
      if (source) source.close();
      return;
    }
    var again = live.cloneNode(false);
    live.replaceWith(again);
    htmx.process(again);
  });
})();
