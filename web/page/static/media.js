// Files are sent while a post is written: chosen, dropped anywhere on the form, or pasted. Each becomes a row of the
// form, which the server has drawn; rows are moved and removed here without asking it.
(function () {
  'use strict';
  var field = document.getElementById('media');
  var chooser = document.getElementById('upload');
  if (!field || !chooser) return;
  var form = field.form, items = document.getElementById('media-items'), said = document.getElementById('media-said');
  var sending = Promise.resolve();
  chooser.removeAttribute('name'); // they are sent here, and not with the form

  function changed(text) {
    said.textContent = text;
    form.dispatchEvent(new Event('change', {bubbles: true})); // the preview follows
  }

  function row(file) {
    var li = document.createElement('li'), name = document.createElement('span'), bar = document.createElement('progress');
    li.className = 'media-item';
    name.className = 'media-name';
    name.textContent = file.name;
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute('aria-label', field.dataset.sending + ' ' + file.name);
    li.append(name, bar);
    items.append(li);
    return li;
  }

  function fail(li, text) {
    var wrong = document.createElement('span'), remove = document.createElement('button');
    wrong.className = 'wrong';
    wrong.textContent = text;
    remove.type = 'button';
    remove.className = 'quiet-button';
    remove.dataset.remove = '';
    remove.dataset.failed = '';
    remove.setAttribute('aria-label', field.dataset.remove);
    remove.textContent = '×';
    li.querySelector('progress').remove();
    li.append(wrong, remove);
    said.textContent = text;
  }

  // One after the other: so they keep their order, and each is as fast as the line allows.
  function send(file) {
    var li = row(file);
    sending = sending.then(function () {
      return new Promise(function (done) {
        if (!li.isConnected) return done();
        var request = new XMLHttpRequest();
        request.open('POST', '/media/file');
        request.setRequestHeader('X-CSRF-Token', form.elements.csrf.value);
        request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
        request.setRequestHeader('Content-Disposition', "attachment; filename*=UTF-8''" + encodeURIComponent(file.name).replace(/['()*]/g, escape));
        request.upload.onprogress = function (e) {
          if (e.lengthComputable) li.querySelector('progress').value = e.loaded / e.total;
        };
        request.onload = function () {
          if (request.status === 200) {
            li.outerHTML = request.responseText;
            changed(file.name);
          } else {
            fail(li, request.status === 422 || request.status === 401 ? request.responseText : field.dataset.failed);
          }
          done();
        };
        request.onerror = function () {
          fail(li, field.dataset.failed);
          done();
        };
        request.send(file);
      });
    });
  }

  function take(files) {
    Array.prototype.forEach.call(files, function (file) {
      if (items.children.length >= Number(field.dataset.most)) said.textContent = field.dataset.tooMany;
      else send(file);
    });
  }

  chooser.addEventListener('change', function (e) {
    e.stopPropagation();
    take(chooser.files);
    chooser.value = '';
  });
  document.addEventListener('paste', function (e) {
    var types = e.clipboardData ? Array.from(e.clipboardData.types) : [];
    if (types.includes('text/html') && types.includes('text/plain')) return; // a text of Word or Excel, of which they add a picture
    if (types.includes('Files')) {
      e.preventDefault();
      take(e.clipboardData.files);
    }
  });
  function hasFiles(e) { return e.dataTransfer && Array.prototype.includes.call(e.dataTransfer.types, 'Files'); }
  form.addEventListener('dragover', function (e) {
    if (!hasFiles(e)) return;
    e.preventDefault();
    field.classList.add('over');
  });
  form.addEventListener('dragleave', function (e) {
    if (!form.contains(e.relatedTarget)) field.classList.remove('over');
  });
  form.addEventListener('drop', function (e) {
    if (!hasFiles(e)) return;
    e.preventDefault();
    field.classList.remove('over');
    take(e.dataTransfer.files);
  });

  items.addEventListener('click', function (e) {
    var button = e.target.closest('button'), li = e.target.closest('li');
    if (!button || !li) return;
    if ('remove' in button.dataset) {
      e.preventDefault();
      var next = li.nextElementSibling || li.previousElementSibling;
      li.remove();
      (next && next.querySelector('button') || chooser).focus();
      changed(field.dataset.removed);
    } else if (button.dataset.move) {
      e.preventDefault();
      var other = button.dataset.move < 0 ? li.previousElementSibling : li.nextElementSibling;
      if (!other) return;
      if (button.dataset.move < 0) other.before(li);
      else other.after(li);
      button.focus();
      changed(field.dataset.moved);
    }
  });

  // What has failed or is still on its way would be missing.
  form.addEventListener('submit', function (e) {
    var failed = items.querySelector('[data-failed]');
    if (failed && !(e.submitter && e.submitter.hasAttribute('formaction'))) {
      e.preventDefault();
      failed.focus();
      return;
    }
    if (!items.querySelector('progress')) return;
    e.preventDefault();
    said.textContent = field.dataset.sending;
    var submitter = e.submitter;
    sending.then(function () { form.requestSubmit(submitter); });
  });
})();
