internal import CommandKit
internal import EntitlementClient
internal import Foundation

/// Where a flow is played: shows its steps, and a code while somebody has to sign in with it.
protocol V2Stage: Sendable {
    /// - Parameter took: Zero: what was learnt without a call of its own.
    func step(_ text: String, took: Duration) async
    func show(_ code: RegistrationCode) async
    /// The verified media token of a channel.
    func play(_ channel: String, _ report: MediaTokenReport) async
    /// Where a person is to go with a browser.
    func open(_ address: String) async
}

/// Lines of a terminal.
struct V2Lines: V2Stage {
    let console: Console
    let gateway: String
    let hasQrCode: Bool

    func step(_ text: String, took: Duration) {
        guard took == .zero else { return console.step(text, took: took) }
        // As wide as a step's mark and time.
        console.line(String(repeating: " ", count: 15) + text)
    }

    func show(_ code: RegistrationCode) {
        CodeText(code, gateway: gateway).lines(console, hasQrCode: hasQrCode).forEach { console.line($0) }
    }

    func play(_ channel: String, _ report: MediaTokenReport) {
        report.rows.forEach { console.line("            \(console.faint($0.name)) \($0.value)") }
    }

    func open(_ address: String) { console.line("\n  Open  \(console.bold(address))\n") }
}
