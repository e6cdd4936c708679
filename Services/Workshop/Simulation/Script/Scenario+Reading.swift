internal import EntitlementSimulator
internal import Foundation
internal import StrictJson

extension Scenario {
    /// - Parameter file: The name of the file, for messages.
    /// - Throws: `DeviceFailure` that names each mistake with its line and column.
    init(json: String, file: String) throws {
        self = try DeviceFile.read(json: json, file: file, as: "scenario") { Scenario(reading: $0) }
    }

    /// Reads what client-sdk §4.2 describes, and notes what does not fit.
    init(reading object: JsonObject) {
        self.init()
        if let value = object.optional("clock") {
            clock = value.string().flatMap { try? Date($0, strategy: .iso8601) }
            if clock == nil { value.problem("must be a time like 2031-04-05T10:00:00Z") }
        }
        permission = object.optional("permission")?.object { permission in
            Permission(initial: permission.optional("initial")?.accessName(), onPrompt: permission.optional("onPrompt")?.accessName())
        }
        system =
            (object.optional("system")?.object { system -> System? in
                guard let provider = system.required("provider")?.name() else { return nil }
                return System(provider: provider, expiresIn: system.optional("expiresIn")?.seconds() ?? 86_400)
            }) ?? nil
        picker = object.optional("picker")?.array { choice in choice.object { Choice(reading: $0) } }
        onboarded = object.optional("onboarded")?.array { $0.name() }
        saml = object.optional("saml")?.object { saml in
            Saml(
                mode: saml.optional("mode")?.choice(["text": "text", "sandbox": "sandbox"]) ?? "sandbox", text: saml.optional("text")?.string(),
                person: saml.optional("person")?.name(), flaw: saml.optional("flaw")?.name())
        }
        faults = object.optional("faults")?.array { fault in fault.object { Fault(reading: $0) } ?? nil }
    }
}

extension Scenario.Choice {
    fileprivate init(reading object: JsonObject) {
        self.init(
            pick: object.optional("pick")?.name(), expired: object.optional("expired")?.bool(), other: object.optional("other")?.bool(),
            cancel: object.optional("cancel")?.bool(), nothing: object.optional("nothing")?.bool(), vsError: object.optional("vsError")?.errorCode())
        let given = [pick != nil, other != nil, cancel != nil, nothing != nil, vsError != nil].filter { $0 }.count
        if given != 1 { object.problem("needs exactly one of 'pick', 'other', 'cancel', 'nothing' and 'vsError'") }
    }
}

extension Scenario.Fault {
    fileprivate init?(reading object: JsonObject) {
        let (vsError, error) = (object.optional("vsError")?.errorCode(), object.optional("error")?.name())
        let (permission, provider) = (object.optional("permission")?.accessName(), object.optional("provider")?.name())
        let times = object.optional("times")?.integer(in: 1...1_000_000).map { Int($0) }
        guard let value = object.required("at"), let place = value.string() else { return nil }
        if place.wholeMatch(of: /(access|metadata|answer)(#[1-9][0-9]{0,5})?/) == nil {
            value.problem("must be 'access', 'metadata' or 'answer', with '#' and a number or without")
        }
        if vsError == nil, error == nil, permission == nil, provider == nil { object.problem("says nothing of what fails") }
        self.init(at: place, vsError: vsError, error: error, permission: permission, provider: provider, times: times)
    }
}

extension JsonValue {
    fileprivate func accessName() -> String? {
        choice(["notDetermined": "notDetermined", "restricted": "restricted", "denied": "denied", "granted": "granted"])
    }

    /// The error code of Apple's framework.
    fileprivate func errorCode() -> Int? { integer(in: 0...7).map { Int($0) } }
    fileprivate func seconds() -> Double? { integer(in: -86_400_000...86_400_000).map { Double($0) } }
}
