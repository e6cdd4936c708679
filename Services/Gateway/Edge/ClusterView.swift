package import ContractRuntime
package import Contracts

/// The services behind the gateway, copy by copy: as the gateway knows them without asking, and questions to each of them. For operators.
package struct ClusterView: Sendable {
    /// A service that the gateway calls.
    package struct Peer: Sendable {
        /// As the settings name it: `authentication`, for example.
        package let name: String
        package let copies: [Copy]

        package init(name: String, copies: [Copy]) { (self.name, self.copies) = (name, copies) }
    }

    /// A copy of a service, by what it says of itself.
    package struct Copy: Sendable {
        /// `host:port`.
        package let address: String
        /// False: there is no connection to it, or it says that it cannot work.
        package let isServing: Bool
        /// Why it cannot work, in its own words; empty: it did not say.
        package let reason: String
        /// Those that have ended or end within 60 days.
        package let certificates: [CertificateEnd]

        package init(address: String, isServing: Bool, reason: String = "", certificates: [CertificateEnd] = []) {
            (self.address, self.isServing, self.reason, self.certificates) = (address, isServing, reason, certificates)
        }
    }

    /// A question to one copy of a service.
    package struct Question<Answer: Sendable>: Sendable {
        /// `host:port` of the copy.
        package let address: String
        /// - Throws: The copy's fault, or one of the wire.
        package let ask: @Sendable (CallContext) async throws -> Answer

        package init(address: String, ask: @escaping @Sendable (CallContext) async throws -> Answer) {
            (self.address, self.ask) = (address, ask)
        }
    }

    package let peers: @Sendable () -> [Peer]
    /// This program's own that have ended or end within 60 days.
    package let ownCertificates: @Sendable () -> [CertificateEnd]
    /// To each copy of `authorization`.
    package let failingDecisionPoints: @Sendable () -> [Question<FailingDecisionPoints>]
    /// To each copy of `authentication`.
    package let returns: @Sendable () -> [Question<ReturnCounts>]

    package init(
        peers: @escaping @Sendable () -> [Peer] = { [] }, ownCertificates: @escaping @Sendable () -> [CertificateEnd] = { [] },
        failingDecisionPoints: @escaping @Sendable () -> [Question<FailingDecisionPoints>] = { [] },
        returns: @escaping @Sendable () -> [Question<ReturnCounts>] = { [] }
    ) {
        self.peers = peers
        self.ownCertificates = ownCertificates
        self.failingDecisionPoints = failingDecisionPoints
        self.returns = returns
    }
}
