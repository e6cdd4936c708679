internal import LoadTool

/// A kind of use of the gateway.
enum GatewayScenario: String, CaseIterable, Sendable {
    case secondScreen = "second-screen"
    case playback
    case tokenExchange = "token-exchange"
    case mixed
    /// Playback by requests that the app signs.
    case signed
    /// Playback by tokens that the app keeps.
    case sdk

    enum Api: String, CaseIterable, Sendable { case v1, v2 }

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Whether devices must be signed in before.
    var needsDevices: Bool { [.playback, .mixed, .signed, .sdk].contains(self) }

    /// One object for each thread that makes calls.
    func workload(_ ground: GatewayGround, worker: Int, workers: Int) -> GatewayWorkload {
        GatewayWorkload(parts(ground), worker: worker, workers: workers)
    }

    /// Whether apps on that API do so.
    func isOf(_ api: Api) -> Bool { api == .v1 || ![.signed, .sdk].contains(self) }

    private func parts(_ ground: GatewayGround) -> [GatewayWorkload.Part] {
        let isV2 = ground.api == .v2
        let secondScreen = isV2 ? V2SecondScreenScript(ground) : SecondScreenScript(ground)
        let tokenExchange = isV2 ? V2PartnerScript(ground) : TokenExchangeScript(ground)
        return switch self {
        case .secondScreen: [.init(script: secondScreen, weight: 1)]
        case .playback: [.init(script: playback(ground), weight: 1)]
        case .tokenExchange: [.init(script: tokenExchange, weight: 1)]
        case .signed: [.init(script: PlaybackScript(ground, signed: true), weight: 1)]
        case .sdk: [.init(script: SdkScript(ground), weight: 1)]
        // Of 100 visits: people start streams several times a day, open the app a little less often without watching, and sign in every few
        // weeks, with a code more often than by their platform.
        case .mixed:
            [
                .init(script: playback(ground), weight: 60),
                .init(script: isV2 ? V2AppStartScript(ground) : AppStartScript(ground), weight: 36), .init(script: secondScreen, weight: 3),
                .init(script: tokenExchange, weight: 1),
            ]
        }
    }

    private func playback(_ ground: GatewayGround) -> any GatewayScript {
        ground.api == .v2 ? V2PlaybackScript(ground) : PlaybackScript(ground)
    }
}
