import Clocks
import Contracts
import Doubles
import Faults
import Logging
import Testing
@testable import UsageCounting

@Suite struct UsagePusherTests {
    private let counter = UsageCounter()
    private let config = UsageDouble()
    private let pusher: UsagePusher

    init() {
        pusher = UsagePusher(counter, to: config, copy: "copy-1", dataCenter: "west", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        config.reportUsage.answer(with: UsageReceipt())
    }

    private func count(_ resource: String = "NEWS") { counter.count(.mediaToken, UsageDimensions(requestorID: "ACME1", resourceID: resource)) }

    @Test func pushesOnlyWhenThereIsSomething() async {
        #expect(await pusher.push())
        #expect(config.reportUsage.requests.isEmpty)
        count()
        #expect(await pusher.push())
        #expect(config.reportUsage.requests.map(\.sequence) == [1])
        #expect(config.reportUsage.requests[0].copyID == "copy-1" && config.reportUsage.requests[0].dataCenter == "west")
    }

    @Test func repeatsABatchUnderItsNumberUntilItIsTaken() async {
        config.reportUsage.fail(with: Fault(.unavailable, "away"))
        count()
        #expect(await !pusher.push())
        count()
        #expect(await !pusher.push())
        config.reportUsage.answer(with: UsageReceipt())
        #expect(await pusher.push())
        let first = config.reportUsage.requests
        #expect(first.map(\.sequence) == [1, 1, 1] && Set(first.map(\.sums)).count == 1)
        // Later counts come under the next.
        #expect(await pusher.push())
        #expect(config.reportUsage.requests.last?.sequence == 2 && config.reportUsage.requests.last?.sums.first?.counts?.mediaTokens == 1)
    }

    @Test func aBatchThatIsWrongIsNotSentForEver() async {
        config.reportUsage.fail(with: Fault(.invalidRequest, "no"))
        count()
        #expect(await pusher.push())
        config.reportUsage.answer(with: UsageReceipt())
        count()
        #expect(await pusher.push())
        #expect(config.reportUsage.requests.map(\.sequence) == [1, 2])
    }

    @Test func manySumsGoInSeveralBatches() async {
        for number in 0..<1200 { count("resource \(number)") }
        #expect(await pusher.push())
        #expect(config.reportUsage.requests.map(\.sequence) == [1, 2, 3])
        #expect(config.reportUsage.requests.map(\.sums.count) == [500, 500, 200])
    }

    @Test func pushesWhatIsLeftWhenItIsStopped() async {
        let running = Task { await pusher.run() }
        count()
        running.cancel()
        await running.value
        #expect(config.reportUsage.requests.reduce(0) { $0 + $1.sums.count } == 1)
    }
}
