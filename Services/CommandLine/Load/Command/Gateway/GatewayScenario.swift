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

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Whether devices must be signed in before.
    var needsDevices: Bool { [.playback, .mixed, .signed, .sdk].contains(self) }

    /// One object for each thread that makes calls.
    func workload(_ ground: GatewayGround, worker: Int, workers: Int) -> GatewayWorkload {
        GatewayWorkload(parts(ground), worker: worker, workers: workers)
    }

    private func parts(_ ground: GatewayGround) -> [GatewayWorkload.Part] {
        switch self {
        case .secondScreen: [.init(script: SecondScreenScript(ground), weight: 1)]
        case .playback: [.init(script: PlaybackScript(ground), weight: 1)]
        case .tokenExchange: [.init(script: TokenExchangeScript(ground), weight: 1)]
        case .signed: [.init(script: PlaybackScript(ground, signed: true), weight: 1)]
        case .sdk: [.init(script: SdkScript(ground), weight: 1)]
        // Of 100 visits: people start streams several times a day, open the app a little less often without watching, and sign in every few
        // weeks, with a code more often than by their platform.
        case .mixed:
            [
                .init(script: PlaybackScript(ground), weight: 60), .init(script: AppStartScript(ground), weight: 36),
                .init(script: SecondScreenScript(ground), weight: 3), .init(script: TokenExchangeScript(ground), weight: 1),
            ]
        }
    }
}
