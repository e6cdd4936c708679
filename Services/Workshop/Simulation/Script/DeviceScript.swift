internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import StrictJson

/// The steps of simulated devices, and the results that are expected of them.
struct DeviceScript: Sendable {
    /// One of the script's devices.
    struct Device: Sendable {
        var name = "tv"
        var platform = DeviceDescription.Platform.tvOS
        var appleAccount: String?
        /// The person's answer to the sheet of Automatic Sign-In.
        var approves = true
        /// The person at the provider, when the platform signs in.
        var person = "ada"
        var scenario: Scenario?
    }

    /// At least one; a step without a device is the first one's.
    var devices: [Device]
    var steps: [ScriptStep]
}

/// One step of a script.
struct ScriptStep: Sendable {
    /// The device; `nil`: the first.
    var device: String?
    var action: ScriptAction
    var expectation = ExpectedEnd()
    /// Where it is in the file, for messages; empty for a step that comes from the command line.
    var place = ""
}

/// The action of a device or its person in a step.
enum ScriptAction: Sendable {
    /// Asks the servers for the requestor's configuration.
    case configure
    /// The app is started anew, and configures.
    case launch
    case status
    case providers
    case signIn(SignIn)
    case preflight([String])
    case play(String)
    case metadata(String)
    case logout
    case autoSignIn(AutoSignIn)
    case clock(Clock)
    case network(SimulatedNetwork.Fault?)
    case settings(Settings)

    struct SignIn: Sendable {
        var provider: String?
        var conduct = SimulatedViewer.Conduct.waits
        var isForced = false
        /// The providers that the platform's picker lists; `nil`: all.
        var filter: [String]?
    }

    enum AutoSignIn: String, Sendable, CaseIterable {
        case status
        case enable
        case redeem
        case disable
    }

    enum Clock: Sendable {
        /// Seconds that the device's clock is ahead of the real time.
        case ahead(Int)
        /// Seconds that pass at once.
        case pass(Int)
    }

    /// The person's changes in the device's settings.
    struct Settings: Sendable {
        var permission: AccountAccess?
        /// The platform's name of the provider at which the device is signed in now.
        var provider: String?
        /// Seconds.
        var expiresIn = 86_400
        var signsOut = false
    }

    /// As scripts call it.
    var name: String {
        switch self {
        case .configure: "configure"
        case .launch: "launch"
        case .status: "status"
        case .providers: "providers"
        case .signIn: "signin"
        case .preflight: "preflight"
        case .play: "play"
        case .metadata: "metadata"
        case .logout: "logout"
        case .autoSignIn: "auto-signin"
        case .clock: "clock"
        case .network: "network"
        case .settings: "settings"
        }
    }

    /// True when the app has to know the requestor first.
    var needsConfiguration: Bool {
        switch self {
        case .configure, .launch, .clock, .network, .settings: false
        default: true
        }
    }
}

/// The facts that have to be true after a step; a `nil` is not looked at.
struct ExpectedEnd: Sendable {
    var outcome: CommandExit?
    /// An advanced code that was told meanwhile (client-sdk §2.6).
    var code: String?
    var isSignedIn: Bool?
    var provider: String?
    var source: String?
    /// The permitted resources of a preflight, in any order.
    var permitted: [String]?
    /// The value of a piece of metadata.
    var value: String?
    /// A part of the text that explains a failure.
    var text: String?

    /// True when a step that did not work may be what is wanted.
    var isOfFailure: Bool { outcome != nil || code != nil || text != nil || isSignedIn == false }
}

extension DeviceScript {
    /// - Parameter file: The name of the file, for messages.
    /// - Throws: `DeviceFailure` that names each mistake with its line and column.
    init(json: String, file: String) throws {
        self = try DeviceFile.read(json: json, file: file, as: "script") { Self.script($0) }
    }

    private static func script(_ object: JsonObject) -> DeviceScript {
        var devices: [Device] = []
        if let value = object.optional("devices") {
            devices = value.array { device -> Device? in device.object { read($0) } ?? nil }
            if value.isArray, devices.isEmpty { value.problem("must name a device, or be left out") }
        }
        if devices.isEmpty { devices = [Device()] }
        for name in Dictionary(grouping: devices, by: \.name).filter({ $0.value.count > 1 }).keys.sorted() {
            object.problem("names the device '\(name)' twice")
        }
        var steps: [ScriptStep] = []
        if let value = object.required("steps") {
            let named = devices
            steps = value.array { step -> ScriptStep? in step.object { ScriptStep(reading: $0, at: step, named) } ?? nil }
            if value.isArray, steps.isEmpty { value.problem("must hold a step") }
        }
        return DeviceScript(devices: devices, steps: steps)
    }

    private static func read(_ object: JsonObject) -> Device? {
        var device = Device()
        if let name = object.required("name")?.string() { device.name = name }
        if let platform = object.optional("platform") {
            device.platform = platform.choice(["tvos": .tvOS, "ios": .iOS, "ipados": .iPadOS]) ?? device.platform
        }
        device.appleAccount = object.optional("appleAccount")?.name()
        if let approves = object.optional("approves")?.bool() { device.approves = approves }
        if let person = object.optional("person")?.name() { device.person = person }
        device.scenario = object.optional("scenario")?.object { Scenario(reading: $0) }
        return device
    }
}

extension ScriptStep {
    fileprivate init?(reading object: JsonObject, at value: JsonValue, _ devices: [DeviceScript.Device]) {
        let named = object.optional("device")
        let name = named?.string()
        if let name, !devices.contains(where: { $0.name == name }) {
            named?.problem("names no device of the script; there are \(devices.map { "'\($0.name)'" }.joined(separator: ", "))")
        }
        let expected = object.optional("expect")?.object { ExpectedEnd(reading: $0) }
        let verb = object.required("do")?.choice(ScriptAction.verbs)
        guard let verb, let action = verb(object, devices.first { $0.name == name } ?? devices[0]) else { return nil }
        self.init(device: name, action: action, expectation: expected ?? ExpectedEnd(), place: "\(value.path)")
    }
}

extension ExpectedEnd {
    fileprivate init(reading object: JsonObject) {
        outcome = object.optional("outcome")?.choice([
            "ok": .done, "refused": .refused, "configuration": .configuration, "unreachable": .unreachable, "expired": .expired,
            "cancelled": .cancelled,
        ])
        if let value = object.optional("code") {
            code = value.name()
            if let code, StatusTable.row(of: StatusCode(rawValue: code)) == nil { value.problem("is no code of the library: '\(code)'") }
        }
        isSignedIn = object.optional("signedIn")?.bool()
        provider = object.optional("provider")?.name()
        source = object.optional("source")?.choice(["regular": "regular", "apple": "apple", "tempPass": "tempPass", "degraded": "degraded"])
        permitted = object.optional("permitted")?.array { $0.name() }
        value = object.optional("value")?.string()
        text = object.optional("text")?.name()
    }
}

extension JsonValue {
    /// A text that is not empty.
    func name() -> String? {
        guard let text = string() else { return nil }
        if text.isEmpty { problem("must not be empty") }
        return text
    }
}

/// Reads the JSON files that `boxoffice device` takes.
enum DeviceFile {
    /// Problems beyond this number are counted, not told.
    private static let toldProblems = 10

    /// - Parameters:
    ///   - file: The name of the file, for messages.
    ///   - kind: The kind that it should be: `script`, `scenario`.
    ///   - read: Makes it of the outermost object, and notes what does not fit.
    /// - Throws: `DeviceFailure` that names each mistake with its line and column.
    static func read<Content>(json: String, file: String, as kind: String, _ read: (JsonObject) -> Content) throws -> Content {
        let document: JsonDocument
        do {
            document = try JsonDocument(parsing: Array(json.utf8))
        } catch {
            throw DeviceFailure(.usage, nil, "\(file): \(error)")
        }
        let problems = JsonProblems(of: document)
        let content = problems.root.object(read)
        guard problems.list.isEmpty, let content else {
            var lines = problems.list.prefix(toldProblems).map { "  \($0)" }
            if problems.list.count > toldProblems { lines.append("  and \(problems.list.count - toldProblems) more") }
            throw DeviceFailure(.usage, nil, "\(file) is no \(kind):\n\(lines.joined(separator: "\n"))")
        }
        return content
    }
}
