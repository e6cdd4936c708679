internal import EntitlementClient
internal import Foundation
internal import SamlResponder

/// The clients, devices and tokens that the gateway scenarios need, made before the measurement.
struct GatewayGround: Sendable {
    let calls: GatewayCalls
    /// Apps that registered, each with its access token; visits are dealt out to them in turn.
    let clients: [GatewayCalls.Client]
    /// Devices that are signed in.
    let devices: [Device]
    let mvpd: PlayedMvpd
    let mvpdID: String
    /// The MVPD's name on platforms.
    var platformID = "north-cable"
    /// That the app calls.
    var api = GatewayScenario.Api.v1
    let domain: String
    let resource: String
    /// Base URL of the gateway as apps see it.
    let gateway: String
    /// Tells the devices of this run from those of others.
    let run: String
    /// Signs requests, if a scenario needs it.
    var signer: RequestSigner?

    struct Device: Sendable {
        let id: String
        let client: Int
        /// What an app on the vendor's SDK keeps: forms for a session's token, a permit's, and a play.
        var forms: [String] = []
    }

    func client(of visit: Visit) -> GatewayCalls.Client { clients[visit.number % clients.count] }

    /// A different person for each visit, at the same MVPD.
    func somebody(_ visit: Visit) -> PlayedMvpd.Subscriber { LoadMvpd.person("\(run)-\(visit.number)") }

    func sign(_ facts: AuthnRequestFacts, for visit: Visit) -> SignedAnswer {
        let (mvpd, somebody) = (mvpd, somebody(visit))
        return SignedAnswer { try mvpd.response(to: facts, for: somebody, now: Date()) }
    }
}
