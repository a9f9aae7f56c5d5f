package simulation_test

import (
	"testing"

	"belfry/worker/simulation"
)

// TestWhatWasFound plays the shrunk histories of faults that the simulation has found.
func TestWhatWasFound(t *testing.T) {
	for name, h := range map[string]simulation.History{
		"a broadcast that is resumed says again why it waits": {Seed: 0x1b7d3a809bb8d934, Days: 2, Events: []simulation.Event{
			{At: 79277255161212, What: "tasks: create", Seed: 0xb120fb1237d9d602},  // day 0 22:01:17.255
			{At: 114120000000000, What: "tasks: pause", Seed: 0x9422e63670615b1b},  // day 1 07:42:00.000
			{At: 127358974950621, What: "tasks: resume", Seed: 0x9c4cee95469a7f3a}, // day 1 11:22:38.974
		}},
		"what an admin writes while the clock shows an impossible time waits": {Seed: 0x9bde9f49e37c5010, Days: 1, Events: []simulation.Event{
			{At: 12612542675566, What: "weather: wrong clock", Seed: 0xa5a7731052673851}, // day 0 03:30:12.542
			{At: 17272711483198, What: "admin bot: command", Seed: 0x7d4db9cc01eeca08},   // day 0 04:47:52.711
		}},
		"a delivery whose first attempt has no answer stays unknown": {Seed: 0x2822b581d1146afc, Days: 2, Events: []simulation.Event{
			{At: 23520061278605, What: "tasks: create", Seed: 0x358d9010176dd06a},                  // day 0 06:32:00.061
			{At: 29549331047952, What: "weather: late", Seed: 0x1547c51e0078a688},                  // day 0 08:12:29.331
			{At: 31811733883921, What: "tasks: create", Seed: 0x19ecbb14f8ae744b},                  // day 0 08:50:11.733
			{At: 32252240251651, What: "weather: crash after a message", Seed: 0x4bea1da275c1127a}, // day 0 08:57:32.240
			{At: 47733596227491, What: "weather: answers lost", Seed: 0x731746333268b589},          // day 0 13:15:33.596
		}},
		"a wait that was planned by a wrong clock is corrected with it": {Seed: 0xcb, Days: 4, Events: []simulation.Event{
			{At: 98903073102528, What: "tasks: create", Seed: 0xbde32645b5337aab},          // day 1 03:28:23.073
			{At: 271121346678206, What: "weather: network gone", Seed: 0x61cd9739f639fd52}, // day 3 03:18:41.346
			{At: 273654120942765, What: "weather: wrong clock", Seed: 0x549c97d6b7570edc},  // day 3 04:00:54.120
		}},
		"a broadcast that was paused while the clock was ahead goes on when it is resumed": {Seed: 0xd, Days: 3, Events: []simulation.Event{
			{At: 73976159902770, What: "tasks: create", Seed: 0x4c931393079ab416},         // day 0 20:32:56.159
			{At: 133680006629299, What: "weather: crash", Seed: 0xe5d82997b395382e},       // day 1 13:08:00.006
			{At: 135979172411236, What: "weather: wrong clock", Seed: 0xd2a2a84520dfbced}, // day 1 13:46:19.172
			{At: 155629992580708, What: "tasks: retry", Seed: 0xb73c10b86d74545d},         // day 1 19:13:49.992
			{At: 218160890317501, What: "tasks: resume", Seed: 0x4ef1d6ebbe2af7eb},        // day 2 12:36:00.890
		}},
		"a channel that is read at once after the clock was corrected is read again in time": {Seed: 0x6, Days: 2, Events: []simulation.Event{
			{At: 39988192031736, What: "channels: add", Seed: 0xd09cd6cb2b061ed1},        // day 0 11:06:28.192
			{At: 58390259976826, What: "weather: wrong clock", Seed: 0x8ec924257a4f0ef0}, // day 0 16:13:10.259
			{At: 60747198686347, What: "channels: read", Seed: 0x6aed3ef6f8eab6a7},       // day 0 16:52:27.198
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if result := simulation.Play(t, h, parts); result.Wrong != nil {
				t.Errorf("%s\n%s", result.Wrong, result.Timeline())
			}
		})
	}
}
