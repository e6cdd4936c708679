internal import Contracts
public import PeerDoubles
public import Transport

/// The implementation under examination, and what is available to the examiner.
public struct Subject: Sendable {
    public var service: ExaminedService
    public var host: String
    public var port: Int
    /// The examiner's identity: a caller that is on the service's lists.
    public var caller: TlsFiles
    /// A caller of the same authority that is on none of them; `nil`: not available.
    public var stranger: TlsFiles?
    /// A caller of another authority.
    public var foreigner: TlsFiles?
    /// The peers that the implementation calls, played by the examiner; `nil` where it calls none.
    public var peers: PeerDoubles?
    /// Time limit for an answer that is due at once.
    public var patience: Duration = .seconds(8)
    /// Makes a Config service publish another version; `nil`: the examiner cannot.
    public var change: (@Sendable () async throws -> Void)?
    /// Ends the implementation's process without a warning and starts it again; `nil`: the examiner cannot.
    public var restart: (@Sendable () async throws -> Void)?

    public init(service: ExaminedService, host: String, port: Int, caller: TlsFiles) {
        self.service = service
        self.host = host
        self.port = port
        self.caller = caller
    }

    /// The name that its certificate must have.
    var certificateName: String { service.certificateName }
}

extension Subject {
    /// Why the implementation does not take calls; `nil`: it does.
    public func problem() async -> String? {
        let examination = Examination(self)
        do {
            let conversation = try await examination.greet()
            let report = try await conversation.call(HealthMethods.check, CheckHealthRequest())
            await conversation.probe.close()
            return report.status == .serving ? nil : VisibleText.text("it is not serving: \(report.reason)")
        } catch let unmet as Unmet {
            return VisibleText.text("expected \(unmet.expected); came \(unmet.came)")
        } catch {
            return VisibleText.text("\(error)")
        }
    }
}
