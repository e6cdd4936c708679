import Clocks
import Contracts
import ManualClocks
import Testing
import UsageCounting

@Suite struct UsageCounterTests {
    private let clock = ManualClock(Timestamp(milliseconds: 1_800_000_000_000))

    private func dimensions(_ resource: String = "NEWS") -> UsageDimensions {
        UsageDimensions(requestorID: "ACME1", mvpdID: "NorthCable", resourceID: resource)
    }

    @Test func addsUpWhatIsTheSameInAMinute() {
        let counter = UsageCounter(clock: clock)
        counter.count(.mediaToken, dimensions())
        counter.count(.mediaToken, dimensions())
        counter.count(.authzFailed(milliseconds: 30), dimensions())
        counter.count(.mediaToken, dimensions("SPORT"))
        let sums = counter.drain()
        #expect(sums.count == 2)
        let news = sums.first { $0.dimensions == dimensions() }?.counts
        #expect(news == UsageCounts(authzAttempts: 1, authzFailed: 1, authzLatencyMilliseconds: 30, mediaTokens: 2))
        #expect(sums.allSatisfy { $0.minute == 1_800_000_000 / 60 })
        #expect(counter.drain().isEmpty)
    }

    @Test func keepsMinutesApart() {
        let counter = UsageCounter(clock: clock)
        counter.count(.authnAttempt, dimensions())
        clock.advance(by: .seconds(60))
        counter.count(.authnAttempt, dimensions())
        let sums = counter.drain()
        #expect(Set(sums.map(\.minute)) == [30_000_000, 30_000_001] && sums.allSatisfy { $0.counts?.authnAttempts == 1 })
    }

    @Test func whatThereIsNoRoomForIsCountedAsOther() {
        let counter = UsageCounter(limits: .init(perMinute: 64, undrained: 64), clock: clock)
        for number in 0..<5000 { counter.count(.decision(isPermit: number.isMultiple(of: 2)), dimensions("resource \(number)")) }
        let sums = counter.drain()
        #expect(sums.count <= 64 + 16)
        #expect(sums.reduce(0) { $0 + ($1.counts?.decisionAttempts ?? 0) } == 5000)
        let other = sums.filter { $0.dimensions?.isOther == true }
        #expect(other.allSatisfy { $0.dimensions?.requestorID == "ACME1" && $0.dimensions?.resourceID == "" })
        #expect(other.reduce(0) { $0 + ($1.counts?.decisionAttempts ?? 0) } >= 5000 - 64)
    }

    @Test func aMinuteHasItsPlacesHoweverOftenItIsDrained() {
        let counter = UsageCounter(limits: .init(perMinute: 1600, undrained: 16_000), clock: clock)
        for _ in 0..<20 {
            for number in 0..<400 { counter.count(.mediaToken, dimensions("\(number)")) }
            let sums = counter.drain()
            #expect(sums.count == 400 && sums.allSatisfy { $0.dimensions?.isOther == false && $0.counts?.mediaTokens == 1 })
        }
        var told: Set<String> = []
        for number in 0..<5000 {
            counter.count(.mediaToken, dimensions("other \(number)"))
            told.formUnion(counter.drain().compactMap { $0.dimensions?.resourceID })
        }
        #expect(told.count <= 1600 - 400 + 1)
        clock.advance(by: .seconds(60))
        counter.count(.mediaToken, dimensions("new"))
        #expect(counter.drain().map(\.dimensions) == [dimensions("new")])
        #expect(counter.drain().isEmpty)
    }

    @Test func losesNothingOfManyTasks() async {
        let counter = UsageCounter(clock: clock)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { for number in 0..<1000 { counter.count(.mediaToken, dimensions("\((task + number) % 7)")) } }
            }
        }
        #expect(counter.drain().reduce(0) { $0 + ($1.counts?.mediaTokens ?? 0) } == 8000)
    }

    @Test func aDeviceTellsWhatItIsAndNotWhoseItIs() {
        let device = DeviceInformation(
            type: "SetTopBox", osName: "tvOS", osFamily: "tvOS", osVersion: "18.2", connectionIP: "192.0.2.7",
            applicationID: String(repeating: "a", count: 200), registeredApplication: "acme-tv", calledApi: .v2)
        let dimensions = UsageDimensions(requestor: "ACME1", mvpd: "NorthCable", device: device)
        #expect(
            dimensions
                == UsageDimensions(
                    requestorID: "ACME1", mvpdID: "NorthCable", device: "SetTopBox", osFamily: "tvOS", osType: "tvOS", osVersion: "18.2",
                    platform: .tvos, applicationID: "acme-tv", customerApplication: "other", api: .restV2))
    }
}
