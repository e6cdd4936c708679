internal import Contracts

extension Conversation {
    func configuration() async throws -> Configuration {
        try await call(ConfigMethods.getConfiguration, GetConfigurationRequest())
    }

    /// - Throws: `NotApplicable` when the implementation issues no statements; `Unmet` for any other fault.
    func statement(of application: String, key: String? = nil) async throws -> Contracts.SoftwareStatement {
        let request = IssueSoftwareStatementRequest(applicationID: application)
        switch try await outcome(of: ConfigMethods.issueSoftwareStatement, request, key: key) {
        case .answer(let statement): return statement
        case .fault(let fault) where fault.code == "unimplemented": throw NotApplicable("the implementation issues no software statements")
        case .fault(let fault): throw Unmet("a software statement", came: "the fault `\(fault.code)`: \(fault.message)")
        }
    }

    /// - Throws: `NotApplicable` when the implementation issues no statements.
    func requireStatements() async throws {
        let request = IssueSoftwareStatementRequest(applicationID: "no-such-application")
        guard case .fault(let fault) = try await outcome(of: ConfigMethods.issueSoftwareStatement, request), fault.code == "unimplemented" else {
            return
        }
        throw NotApplicable("the implementation issues no software statements")
    }

    func watch(knownVersion: UInt64) async throws -> UInt64 {
        try await open(ConfigMethods.watchConfiguration, WatchConfigurationRequest(knownVersion: knownVersion))
    }

    /// A watch that the service has seen: its first version is there.
    func establishedWatch() async throws -> UInt64 {
        let watch = try await watch(knownVersion: 0)
        _ = try await requireVersion(of: watch, "the current version")
        return watch
    }

    /// The next version of a watch; `nil` when none came in the time.
    func version(of watch: UInt64, within patience: Duration = Examination.patience) async throws -> Configuration? {
        try await item(of: ConfigMethods.watchConfiguration, watch, within: patience)
    }

    /// - Throws: `Unmet` when none came in the time.
    func requireVersion(of watch: UInt64, _ expected: String, within patience: Duration = Examination.patience) async throws -> Configuration {
        guard let version = try await version(of: watch, within: patience) else { throw Unmet(expected, came: "nothing") }
        return version
    }
}

extension Examination {
    /// A service that polls for changes applies one within this time.
    static var changePatience: Duration { patience * 5 / 2 }

    /// Makes the service publish another version.
    /// - Throws: `NotApplicable` when the examiner cannot.
    func change() async throws {
        guard let change = subject.change else { throw NotApplicable("the examiner cannot change the catalogue (--change)") }
        sent("(the catalogue is changed)")
        try await change()
    }
}
