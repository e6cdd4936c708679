internal import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import Foundation

extension DeviceCommand {
    /// Whether the options and the terminal ask for a TV with a remote.
    var isTv: Bool {
        person == nil && !usesPlatform && appleAccount == nil && deviceID == nil && state == nil && !plain && !json && TvTerminal.isThere
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Plays TVs until the person switches them off.
    func playTv(on ground: DeviceGround) async throws {
        let settings = TvProgram.Settings(
            channels: listedChannels, appleAccount: ground.apple.map { _ in "tv-\(UUID().uuidString)" }, pollInterval: .seconds(poll))
        try await show(TvProgram(settings, on: ground))
    }

    /// What the TV lists.
    var listedChannels: [String] { channels.map(Self.list) ?? Self.demoChannels[requestor] ?? [resource] }

    func show(_ program: some TvShow) async throws {
        guard let terminal = TvTerminal() else { throw DeviceFailure(.usage, nil, "the terminal cannot be taken over: use --plain") }
        defer { terminal.close() }
        try await program.start()
        let (console, signals) = (Console(), StopSignals())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await key in terminal.keys { await program.press(key) } }
            group.addTask { await signals.wait() }
            group.addTask {
                var shown: [String] = []
                while await !program.isOver, !Task.isCancelled {
                    let size = terminal.size
                    let lines = TvFrame(console, width: size.width, height: size.height).lines(await program.screen)
                    if lines != shown { terminal.draw(lines) }
                    shown = lines
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            await group.next()
            await program.stop()
            terminal.close()
            group.cancelAll()
        }
        if await program.isInterrupted { throw CommandExit.cancelled.exitCode }
    }

    /// What the demo catalogue's requestors show.
    private static let demoChannels = [
        "ACME1": ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"], "ACME2": ["ACME2-MOVIES"],
    ]
}
