internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import StrictJson

extension ScriptAction {
    typealias Reader = (JsonObject, DeviceScript.Device) -> ScriptAction?

    /// The verbs that `do` may have.
    static var verbs: KeyValuePairs<String, Reader> {
        [
            "configure": { _, _ in .configure },
            "launch": { _, _ in .launch },
            "status": { _, _ in .status },
            "providers": { _, _ in .providers },
            "signin": { object, _ in .signIn(SignIn(reading: object)) },
            "preflight": { object, _ in .preflight(resources(object)) },
            "play": { object, _ in object.required("resource")?.name().map { .play($0) } },
            "metadata": { object, _ in object.required("key")?.name().map { .metadata($0) } },
            "logout": { _, _ in .logout },
            "auto-signin": { object, device in
                if device.appleAccount == nil { object.problem("needs a device with an 'appleAccount'") }
                return object.required("action")?.choice(["status": .status, "enable": .enable, "redeem": .redeem, "disable": .disable])
                    .map { .autoSignIn($0) }
            },
            "clock": { object, _ in clock(object) },
            "network": { object, _ in .network(fault(object)) },
            "settings": { object, device in
                if device.scenario == nil { object.problem("needs a device with a 'scenario': others have no platform to sign in with") }
                return .settings(Settings(reading: object))
            },
        ]
    }

    private static let most: Int64 = 10 * 366 * 86_400

    private static func resources(_ object: JsonObject) -> [String] {
        guard let value = object.required("resources") else { return [] }
        let resources = value.array { $0.name() }
        if value.isArray, resources.isEmpty { value.problem("must name a resource") }
        return resources
    }

    private static func clock(_ object: JsonObject) -> ScriptAction? {
        let ahead = object.optional("ahead")?.integer(in: -most...most)
        let pass = object.optional("pass")?.integer(in: 1...most)
        switch (ahead, pass) {
        case (let seconds?, nil): return .clock(.ahead(Int(seconds)))
        case (nil, let seconds?): return .clock(.pass(Int(seconds)))
        default:
            object.problem("needs either 'ahead' or 'pass', in seconds")
            return nil
        }
    }

    private static func fault(_ object: JsonObject) -> SimulatedNetwork.Fault? {
        enum Kind { case unreachable, insecure, captivePortal, status, slow, none }
        let kind: Kind? = object.required("fault")?.choice([
            "unreachable": .unreachable, "insecure": .insecure, "captive-portal": .captivePortal, "status": .status, "slow": .slow, "none": .none,
        ])
        let path = object.optional("path")?.name() ?? "/"
        let times = object.optional("times")?.integer(in: 1...1_000_000).map { Int($0) }
        func fault(_ kind: SimulatedNetwork.Fault.Kind) -> SimulatedNetwork.Fault { SimulatedNetwork.Fault(kind, path: path, times: times) }
        switch kind {
        case .unreachable: return fault(.unreachable)
        case .insecure: return fault(.insecure)
        case .captivePortal: return fault(.captivePortal)
        case .status:
            let status = object.required("status")?.integer(in: 100...599) ?? 500
            return fault(.status(Int(status), retryAfter: object.optional("retryAfter")?.integer(in: 0...86_400).map { Int($0) }))
        case .slow: return fault(.slow(.milliseconds(object.required("milliseconds")?.integer(in: 1...600_000) ?? 0)))
        case Kind.none?, nil: return nil
        }
    }
}

extension ScriptAction.SignIn {
    fileprivate init(reading object: JsonObject) {
        provider = object.optional("provider")?.name()
        if let forced = object.optional("force")?.bool() { isForced = forced }
        filter = object.optional("filter")?.array { $0.name() }
        let name = object.optional("as")?.name()
        let other: SimulatedViewer.Conduct? = object.optional("person")?.choice([
            "waits": .waits, "lets-code-expire": .letsCodeExpire, "gives-up": .givesUp,
        ])
        switch (name, other) {
        case (let name?, nil): conduct = .signsIn(name)
        case (nil, let other?): conduct = other
        default: object.problem("needs either 'as' with a person of the sandbox, or 'person': 'waits', 'lets-code-expire' or 'gives-up'")
        }
    }
}

extension ScriptAction.Settings {
    fileprivate init(reading object: JsonObject) {
        permission = object.optional("permission")?.access()
        provider = object.optional("provider")?.name()
        if let seconds = object.optional("expiresIn")?.integer(in: -86_400_000...86_400_000) { expiresIn = Int(seconds) }
        if let signsOut = object.optional("signOut")?.bool() { self.signsOut = signsOut }
        if permission == nil, provider == nil, !signsOut { object.problem("changes nothing: give 'permission', 'provider' or 'signOut'") }
    }
}

extension JsonValue {
    fileprivate func access() -> AccountAccess? {
        choice(["notDetermined": .notDetermined, "restricted": .restricted, "denied": .denied, "granted": .granted])
    }
}
