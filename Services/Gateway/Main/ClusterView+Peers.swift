internal import Contracts
internal import GatewayEdge
internal import ServiceKit

extension ClusterView {
    /// The services that the gateway calls, by its own connections to them.
    /// - Throws: `StartFailure` when the settings lack one of them.
    init(_ environment: ServiceEnvironment<GatewaySettings>) throws(StartFailure) {
        let names = ["config", "authentication", "authorization", "autosignin"]
        var callers: [(name: String, client: CopiesOfPeer)] = []
        for name in names { callers.append((name, try environment.copies(of: name))) }
        let (authentication, authorization) = (callers[1].client, callers[2].client)
        let known = callers
        self.init(
            peers: {
                known.map { peer in
                    Peer(
                        name: peer.name,
                        copies: peer.client.now.map {
                            Copy(address: $0.address, isServing: $0.isServing, reason: $0.reason, certificates: $0.certificates)
                        })
                }
            }, ownCertificates: { environment.certificatesThatEnd },
            failingDecisionPoints: {
                authorization.now.map { copy in
                    Question(address: copy.address) {
                        try await copy.call(AuthorizationMethods.listFailingDecisionPoints, ListFailingDecisionPointsRequest(), context: $0)
                    }
                }
            },
            returns: {
                authentication.now.map { copy in
                    Question(address: copy.address) {
                        try await copy.call(AuthenticationOperationsMethods.countReturns, CountReturnsRequest(), context: $0)
                    }
                }
            })
    }
}
