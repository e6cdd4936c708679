internal import Contracts
internal import Cryptography
internal import Foundation
internal import Tokens

extension ConfigRequirements {
    static let content = [
        content("CONFIG-12", "Ids are there, and no two entries of a kind share one.", source: "config.proto Configuration") { configuration in
            try unique(configuration.programmers.map(\.id), "programmers")
            try unique(configuration.requestors.map(\.id), "requestors")
            try unique(configuration.mvpds.map(\.id), "mvpds")
            try unique(configuration.applications.map(\.id), "applications")
            try unique(configuration.integrations.map { "\($0.requestorID)/\($0.mvpdID)" }, "integrations")
            try unique(configuration.applications.flatMap(\.softwareIDs), "software_ids")
        },
        content(
            "CONFIG-13", "What an entry refers to is there.",
            source: "config.proto Requestor.programmer_id, Integration, Application, Mvpd.proxy_mvpd_id, DegradationRule"
        ) { configuration in
            let programmers = Set(configuration.programmers.map(\.id))
            let requestors = Set(configuration.requestors.map(\.id))
            let mvpds = Set(configuration.mvpds.map(\.id))
            try known(configuration.requestors.map(\.programmerID), in: programmers, "programmer of a requestor")
            try known(configuration.integrations.map(\.requestorID), in: requestors, "requestor of an integration")
            try known(configuration.integrations.map(\.mvpdID), in: mvpds, "MVPD of an integration")
            try known(configuration.applications.map(\.programmerID), in: programmers, "programmer of an application")
            try known(configuration.applications.flatMap(\.requestorIDs), in: requestors, "requestor of an application")
            try known(configuration.mvpds.map(\.proxyMvpdID).filter { !$0.isEmpty }, in: mvpds, "proxy of an MVPD")
            try known(configuration.degradationRules.map(\.requestorID), in: requestors, "requestor of a degradation rule")
            try known(configuration.degradationRules.map(\.mvpdID), in: mvpds, "MVPD of a degradation rule")
        },
        content("CONFIG-14", "Each MVPD has exactly one way to sign in.", source: "config.proto Mvpd.sign_in") { configuration in
            for mvpd in configuration.mvpds where mvpd.signIn == nil { throw Unmet("saml, oauth or temp_pass of the MVPD \(mvpd.id)", came: "none") }
        },
        content(
            "CONFIG-15", "SAML endpoints pin 1 to 4 certificates.", source: "config.proto SamlEndpoint.signing_certificates"
        ) { configuration in
            for mvpd in configuration.mvpds {
                guard case .saml(let endpoint) = mvpd.signIn else { continue }
                guard (1...4).contains(endpoint.signingCertificates.count) else {
                    throw Unmet("1 to 4 certificates of the MVPD \(mvpd.id)", came: "\(endpoint.signingCertificates.count)")
                }
                for der in endpoint.signingCertificates where (try? Certificate(der: der)) == nil {
                    throw Unmet("X.509 certificates, DER, of the MVPD \(mvpd.id)", came: Bytes.text(der))
                }
            }
        },
        content(
            "CONFIG-16",
            "Values are in their ranges: media_token_ttl_s to 3600, ids of certificates are the SHA-256 of their DER, custom schemes begin with `adbe.`.",
            source: "config.proto Requestor, Certificate, Programmer.custom_schemes"
        ) { configuration in
            for requestor in configuration.requestors where requestor.mediaTokenTtlSeconds > 3600 {
                throw Unmet("media_token_ttl_s of \(requestor.id) to 3600", came: "\(requestor.mediaTokenTtlSeconds)")
            }
            for certificate in configuration.programmers.flatMap(\.certificates) + configuration.requestors.flatMap(\.certificates) {
                let digest = Hex.encode(SHA256.hash(certificate.der))
                guard certificate.id == digest else { throw Unmet("the certificate id \(digest)", came: certificate.id) }
            }
            for scheme in configuration.programmers.flatMap(\.customSchemes) + configuration.requestors.flatMap(\.customSchemes) {
                guard scheme.hasPrefix("adbe.") else { throw Unmet("a custom scheme that begins with `adbe.`", came: scheme) }
            }
        },
        content("CONFIG-17", "statement_keys is a JSON Web Key Set with public keys only.", source: "config.proto Configuration.statement_keys") {
            configuration in
            guard let keys = try? JSONWebKeySet(json: configuration.statementKeys), !keys.keys.isEmpty else {
                throw Unmet("a JSON Web Key Set with a key", came: configuration.statementKeys)
            }
            for member in ["\"d\"", "\"p\"", "\"q\"", "\"k\""] where configuration.statementKeys.contains(member) {
                throw Unmet("public keys only", came: "a key with the member \(member)")
            }
        },
    ]

    static let statements = [
        Requirement(
            "CONFIG-18", "IssueSoftwareStatement answers with a compact JWS that statement_keys verify, whose software_id is that of the answer.",
            source: "config.proto IssueSoftwareStatement, SoftwareStatement"
        ) { examination in
            let conversation = try await examination.greet()
            let configuration = try await conversation.configuration()
            let application = try application(configuration) { !$0.softwareIDs.isEmpty }
            let issued = try await conversation.statement(of: application.id)
            try verify(issued, configuration)
        },
        Requirement(
            "CONFIG-19", "The software_id of a statement is listed in the application's software_ids.",
            source: "config.proto SoftwareStatement.software_id"
        ) { examination in
            let conversation = try await examination.greet()
            let application = try application(try await conversation.configuration()) { !$0.softwareIDs.isEmpty }
            let issued = try await conversation.statement(of: application.id)
            let listed = try await conversation.configuration().applications.first { $0.id == application.id }?.softwareIDs ?? []
            guard listed.contains(issued.softwareID) else { throw Unmet("one of \(listed)", came: issued.softwareID) }
        },
        Requirement(
            "CONFIG-20", "IssueSoftwareStatement can be repeated, also with one idempotency key: each statement is good.",
            source: "config.proto IssueSoftwareStatement (IDEMPOTENT), WIRE.md §4"
        ) { examination in
            let conversation = try await examination.greet()
            let configuration = try await conversation.configuration()
            let application = try application(configuration) { !$0.softwareIDs.isEmpty }
            for key in ["", "conformance-20", "conformance-20"] {
                try verify(try await conversation.statement(of: application.id, key: key), configuration)
            }
        },
        Requirement(
            "CONFIG-21", "IssueSoftwareStatement refuses an application that is not in the catalogue with `invalid_request`.",
            source: "config.proto IssueSoftwareStatement"
        ) { examination in
            let conversation = try await examination.greet()
            try await conversation.requireStatements()
            let request = IssueSoftwareStatementRequest(applicationID: "no-such-application")
            try await conversation.refusal(of: ConfigMethods.issueSoftwareStatement, request, codes: ["invalid_request"])
        },
        Requirement(
            "CONFIG-22", "IssueSoftwareStatement refuses an application without software_ids with `unapproved_software_statement`.",
            source: "config.proto IssueSoftwareStatement"
        ) { examination in
            let conversation = try await examination.greet()
            try await conversation.requireStatements()
            let application = try application(try await conversation.configuration()) { $0.softwareIDs.isEmpty }
            let request = IssueSoftwareStatementRequest(applicationID: application.id)
            try await conversation.refusal(of: ConfigMethods.issueSoftwareStatement, request, codes: ["unapproved_software_statement"])
        },
        Requirement(
            "CONFIG-25", "A software statement does not expire.", source: "config.proto SoftwareStatement.statement"
        ) { examination in
            let conversation = try await examination.greet()
            let application = try application(try await conversation.configuration()) { !$0.softwareIDs.isEmpty }
            let issued = try await conversation.statement(of: application.id)
            let parts = issued.statement.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let payload = Base64.url.decode(parts[1]),
                let claims = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
            else { throw Unmet("a compact JWS of a JSON object", came: issued.statement) }
            if let end = claims["exp"] { throw Unmet("no claim `exp`", came: "\(end)") }
        },
    ]

    private static func content(
        _ id: String, _ sentence: String, source: String, _ check: @escaping @Sendable (Configuration) throws -> Void
    ) -> Requirement {
        Requirement(id, sentence, source: source) { examination in try check(try await examination.greet().configuration()) }
    }

    private static func unique(_ ids: [String], _ what: String) throws {
        if ids.contains("") || ids.contains("/") { throw Unmet("ids of all \(what)", came: "an empty one") }
        guard Set(ids).count < ids.count else { return }
        let twice = Dictionary(grouping: ids) { $0 }.filter { $1.count > 1 }.keys.sorted()
        throw Unmet("\(what) with ids of their own", came: "twice: \(twice.joined(separator: ", "))")
    }

    private static func known(_ ids: [String], in all: Set<String>, _ what: String) throws {
        for id in ids where !all.contains(id) { throw Unmet("the \(what)", came: "no entry of the id '\(id)'") }
    }

    static func application(_ configuration: Configuration, _ isMeant: (Application) -> Bool) throws -> Application {
        guard let found = configuration.applications.first(where: isMeant) else { throw NotApplicable("the catalogue has no such application") }
        return found
    }

    static func verify(_ issued: Contracts.SoftwareStatement, _ configuration: Configuration) throws {
        guard let keys = try? JSONWebKeySet(json: configuration.statementKeys) else {
            throw Unmet("statement_keys, a JSON Web Key Set", came: configuration.statementKeys)
        }
        do {
            let content = try SoftwareStatementVerifier(keySet: keys).verify(issued.statement)
            guard content.softwareID == issued.softwareID else { throw Unmet("software_id \(issued.softwareID)", came: content.softwareID) }
        } catch let rejection as TokenRejection {
            throw Unmet("a JWS that statement_keys verify", came: "one that they do not (\(rejection)): \(issued.statement)")
        }
    }
}

extension ConfigRequirements {
    static let durable = [
        Requirement(
            "CONFIG-23",
            "A version that was served outlives the service's process: afterwards the number is not lower, and an equal number has equal content.",
            source: "config.proto Config, Configuration.version", isDisruptive: true
        ) { examination in
            let before = try await examination.greet().configuration()
            try await examination.restart()
            let after = try await examination.greet().configuration()
            guard after.version > before.version || after == before else {
                let isSame = after.version == before.version
                throw Unmet(
                    "version \(before.version) with its content, or a greater one",
                    came: "version \(after.version)\(isSame ? " with other content" : "")")
            }
        },
        Requirement(
            "CONFIG-24",
            "A software statement outlives the process that issued it: statement_keys still verify it, and its application still lists its id.",
            source: "config.proto Configuration.statement_keys, SoftwareStatement.software_id", isDisruptive: true
        ) { examination in
            let conversation = try await examination.greet()
            let application = try application(try await conversation.configuration()) { !$0.softwareIDs.isEmpty }
            let issued = try await conversation.statement(of: application.id)
            try await examination.restart()
            let after = try await examination.greet().configuration()
            try verify(issued, after)
            let listed = after.applications.first { $0.id == application.id }?.softwareIDs ?? []
            guard listed.contains(issued.softwareID) else { throw Unmet("one of \(listed)", came: issued.softwareID) }
        },
    ]
}
