internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import ServiceKit
internal import Synchronization

/// Tells what devices do: lines for people, or one line of JSON for each callback and step (client-sdk §4.3).
final class DeviceJournal: Sendable {
    /// A line of JSON.
    private struct Entry: Encodable {
        let sequence: Int
        let device: String?
        let name: String
        let arguments: [JSONValue]
    }

    let console: Console
    let isJSON: Bool
    private let write: @Sendable (String) -> Void
    private let sequence = Mutex(0)

    /// - Parameters:
    ///   - isJSON: Lines of JSON, and nothing else.
    ///   - write: Takes each line of JSON.
    init(console: Console, isJSON: Bool, write: (@Sendable (String) -> Void)? = nil) {
        (self.console, self.isJSON) = (isJSON ? Console(isQuiet: true) : console, isJSON)
        self.write = write ?? { StandardStream.output.writeOrEnd(Data(($0 + "\n").utf8)) }
    }

    /// A callback, by the name that apps know it by.
    func callback(_ name: String, _ arguments: [JSONValue], device: String) { add(name, arguments, device) }

    func event(_ event: EntitlementEvent, device: String) {
        switch event {
        case .status(let status): add("status", [.object(status.dictionary.mapValues { .string($0) })], device)
        case .tracking(let tracking):
            add("sendTrackingData", [.array(tracking.array.map { .string($0) }), .integer(Int64(tracking.event))], device)
        case .storageFailed(let failure): add("storageFailed", [.string(failure.entry.rawValue), .string(failure.reason)], device)
        }
    }

    /// A finished step.
    func step(_ number: Int, _ step: ScriptStep, _ report: StepReport, took: Duration, device: String, isNamed: Bool) {
        var facts: [String: JSONValue] = [
            "number": .integer(Int64(number)), "do": .string(step.action.name), "outcome": .string(report.outcome.name),
            "text": .string(report.text), "milliseconds": .integer(Int64(took / .milliseconds(1))),
        ]
        facts["code"] = report.failureCode.map { .string($0.rawValue) }
        add("step", [.object(facts)], device)
        let text = (isNamed ? "\(device): " : "") + report.text
        guard report.outcome != .done else { return console.step(text, took: took) }
        console.line("  \(console.faint("as expected"))  \(text)")
    }

    /// The end of a run.
    func end(_ exit: CommandExit) { add("end", [.object(["exit": .integer(Int64(exit.rawValue)), "outcome": .string(exit.name)])], nil) }

    private func add(_ name: String, _ arguments: [JSONValue], _ device: String?) {
        guard isJSON else { return }
        sequence.withLock { sequence in
            sequence += 1
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let entry = Entry(sequence: sequence, device: device, name: name, arguments: arguments)
            guard let line = try? encoder.encode(entry) else { return }
            write(String(decoding: line, as: UTF8.self))
        }
    }

    /// A secret as a journal may hold it.
    static func shortened(_ secret: String) -> JSONValue { .string(secret.count > 8 ? "\(secret.prefix(8))…" : secret) }

    /// An address whose access token is shortened.
    static func shortened(_ url: URL) -> JSONValue {
        .string(url.absoluteString.replacing(/access_token=([^&]{0,8})[^&]*/) { "access_token=\($0.1)…" })
    }
}

/// The result of a step.
struct StepReport: Sendable {
    var outcome = CommandExit.done
    /// For people: what happened, in a line.
    var text: String
    var failureCode: StatusCode?
    /// The advanced codes that were told meanwhile.
    var codes: [StatusCode] = []
    var session: Session?
    var permitted: [String]?
    var value: String?
    /// More lines for people.
    var details: [String] = []
}
