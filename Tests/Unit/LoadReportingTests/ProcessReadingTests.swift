import Foundation
import Testing

@testable import LoadReporting

@Suite struct ProcessReadingTests {
    private static let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 777 1000 2000 18446744073709551615 0"

    @Test func readsTimeMemoryAndStartWhateverTheNameHolds() throws {
        let reading = try #require(ProcessReading(stat: Self.stat, ticksPerSecond: 100, pageSize: 4096))
        #expect(reading.cpuSeconds == 3)
        #expect(reading.threads == 9)
        #expect(reading.startTicks == 777)
        #expect(reading.residentBytes == 2000 * 4096)
    }

    @Test(arguments: ["", "42", "42 (x)", "42 (x) S 1 2 3", "42 (x) S 1 42 42 0 -1 0 1 0 0 0 abc 50 0 0 20 0 9 0 777 1000 2000 0"])
    func refusesWhatIsNoStat(_ text: String) { #expect(ProcessReading(stat: text, ticksPerSecond: 100, pageSize: 4096) == nil) }

    @Test func readsItself() throws {
        let reading = try #require(ProcessReading.read(ProcessInfo.processInfo.processIdentifier))
        #expect(reading.residentBytes > 1_000_000 && reading.threads >= 1)
        #expect(ProcessReading.read(-1) == nil)
        #expect(MachineReading.read() != nil)
    }

    @Test func readsTheMachine() {
        #expect(MachineReading(stat: "cpu  100 0 100 1000 50 10 20 30 0 0\ncpu0 1", ticksPerSecond: 100)?.busySeconds == 2.3)
        #expect(MachineReading(stat: "cpu  100 0 100 1000 50 10 20 30 0 0", ticksPerSecond: 100)?.stolenSeconds == 0.3)
        #expect(MachineReading(stat: "intr 5", ticksPerSecond: 100) == nil)
        #expect(MachineReading(stat: "", ticksPerSecond: 100) == nil)
    }

    private func reading(_ seconds: Double, start: UInt64 = 7) -> ProcessReading? {
        let fields = "S 1 42 42 0 -1 0 1 0 0 0 \(Int(seconds * 100)) 0 0 0 20 0 9 0 \(start) 1000 10 0"
        return ProcessReading(stat: "1 (x) \(fields)", ticksPerSecond: 100, pageSize: 4096)
    }

    @Test func processorTimeIsThatSinceTheSampleBefore() {
        var track = ProcessTrack(ObservedProcess(name: "x", pid: 1, role: .target))
        track.add(reading(10), at: 0)
        track.add(reading(11), at: 2)
        track.add(reading(14), at: 4)
        #expect(track.cores == [nil, 0.5, 1.5])
        #expect(!track.hasEnded)
    }

    @Test func anotherProcessWithTheSameIdIsNotTakenForIt() {
        var track = ProcessTrack(ObservedProcess(name: "x", pid: 1, role: .target))
        track.add(reading(10), at: 0)
        track.add(reading(0, start: 99), at: 1)
        track.add(nil, at: 2)
        #expect(track.cores == [nil, nil, nil])
        #expect(track.residentBytes == [40_960, nil, nil])
        #expect(track.hasEnded)
    }
}
