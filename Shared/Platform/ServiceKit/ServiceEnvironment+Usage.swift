internal import Contracts
public import UsageCounting

extension ServiceEnvironment {
    /// Counts events for the reports of usage, and brings them to the peer `config` for as long as the program runs.
    /// - Throws: As `peer`.
    public func usageCounter() throws(StartFailure) -> UsageCounter {
        let counter = UsageCounter(clock: clock)
        let pusher = UsagePusher(counter, to: UsageClient(caller: try peer("config")), dataCenter: common.dataCenter, logger: logger)
        background("usage") { await pusher.run() }
        return counter
    }
}
