internal import Contracts
public import PeerDoubles
public import Transport

/// The implementation that is examined, and what the examiner has at hand.
public struct Subject: Sendable {
    public var service: ExaminedService
    public var host: String
    public var port: Int
    /// As whom the examiner calls: a caller that is on the service's lists.
    public var caller: TlsFiles
    /// A caller of the same authority that is on none; `nil`: not at hand.
    public var stranger: TlsFiles?
    /// A caller of another authority.
    public var foreigner: TlsFiles?
    /// The peers that the implementation calls, played by the examiner; `nil` where it calls none.
    public var peers: PeerDoubles?
    /// How long an answer may take that is due at once.
    public var patience: Duration = .seconds(8)
    /// Makes a Config service publish another version; `nil`: nobody can.
    public var change: (@Sendable () async throws -> Void)?

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
            return report.status == .serving ? nil : "it is not serving: \(report.reason)"
        } catch let unmet as Unmet {
            return "expected \(unmet.expected); came \(unmet.came)"
        } catch {
            return "\(error)"
        }
    }
}
