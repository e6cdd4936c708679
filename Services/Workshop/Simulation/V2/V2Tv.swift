internal import CommandKit
internal import EntitlementClient
internal import Foundation

/// A TV whose app is on REST v2, and the person with its remote: a menu of the flows, and each as it is played.
actor V2Tv: TvShow, V2Stage {
    private let player: V2Player
    private var outcomes: [V2Flow: String] = [:]
    private var steps: [TvScreen.Choice] = []
    /// The chosen line of the menu.
    private var chosen = 0
    private var running: (flow: V2Flow, task: Task<Void, Never>)?
    private(set) var screen: TvScreen
    private(set) var isOver = false
    private(set) var isInterrupted = false

    init(_ player: V2Player) {
        self.player = player
        screen = TvScreen(name: "Living room", brand: player.setup.requestor, channels: [])
        screen.corner = "REST v2"
    }

    func start() {
        showMenu()
        screen.tell("Choose a flow and press Enter.")
    }

    func stop() {
        isOver = true
        running?.task.cancel()
    }

    func press(_ key: TvKey) {
        switch key {
        case .interrupt: (isOver, isInterrupted) = (true, true)
        case .up: screen.move(-1)
        case .down: screen.move(1)
        case .letter("q"): isOver = true
        case .back: back()
        case .enter: enter()
        case .tab, .letter: break
        }
    }

    private func back() {
        if let running { return running.task.cancel() }
        showMenu()
    }

    private func enter() {
        guard running == nil else { return }
        guard case .list(_, _, let choices) = screen.page, choices.indices.contains(screen.selection),
            let flow = V2Flow(rawValue: choices[screen.selection].id)
        else { return showMenu() }
        (steps, chosen) = ([], screen.selection)
        var player = player
        player.stage = self
        let task = Task { [weak self, player] in
            do {
                try await player.play(flow)
                await self?.finished(flow, nil)
            } catch {
                await self?.finished(flow, error)
            }
        }
        running = (flow, task)
        showSteps(flow)
        screen.busy = "Playing"
    }

    private func finished(_ flow: V2Flow, _ error: (any Error)?) {
        running = nil
        if case .code = screen.page { showSteps(flow) }
        guard let error else {
            outcomes[flow] = "played"
            return screen.tell("Flow \(flow.name) went as documented. Esc goes back.")
        }
        let failure = DeviceFailure(error)
        outcomes[flow] = failure.exit == .cancelled ? "given up" : failure.description
        showSteps(flow)
        screen.tell(failure.exit == .cancelled ? "Given up." : failure.description, isBad: failure.exit != .cancelled)
    }

    private func showMenu() {
        let choices = V2Flow.allCases.map { TvScreen.Choice(id: $0.rawValue, title: "\($0.name)  \($0.title)", note: outcomes[$0] ?? "") }
        screen.show(.list(title: "What apps do at \(screen.brand)", note: "", choices))
        screen.selection = chosen
    }

    /// The newest step is in sight.
    private func showSteps(_ flow: V2Flow) {
        screen.show(.list(title: "\(flow.name)  \(flow.title)", note: "", steps))
        screen.selection = max(0, steps.count - 1)
    }

    // MARK: - What the flow shows

    func step(_ text: String, took: Duration) {
        steps.append(TvScreen.Choice(id: "", title: text, note: took == .zero ? "" : Console.text(of: took)))
        guard let flow = running?.flow else { return }
        showSteps(flow)
        screen.busy = text
    }

    func show(_ code: RegistrationCode) {
        screen.busy = "Waiting for your sign-in"
        screen.show(.code(CodeText(code, gateway: player.setup.gateway), until: .now + code.lifetime))
    }

    func play(_ channel: String, _ report: MediaTokenReport) {
        screen.show(.playing(channel: channel, facts: [("media token", "verified offline")] + report.rows, since: .now))
    }

    func open(_ address: String) {
        screen.busy = "Waiting for your sign-in"
        screen.show(.list(title: "Open this address in a browser", note: "", [TvScreen.Choice(id: "", title: address, note: "")]))
    }
}
