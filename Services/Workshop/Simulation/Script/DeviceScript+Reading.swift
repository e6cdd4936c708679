internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import StrictJson

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
