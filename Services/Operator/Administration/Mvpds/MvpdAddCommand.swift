internal import ArgumentParser
internal import CatalogueFiles
internal import CommandKit
internal import Foundation
internal import SamlProfile
internal import TextEncodings

/// `boxoffice mvpd add`: what the console's page *Connect an MVPD* does.
struct MvpdAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Show what an MVPD's metadata says; with --confirm, make it an entry of the draft; with --push, make that live.",
        discussion: """
            Run it without --confirm first: it changes nothing, and shows what is understood, what is doubtful, and the fingerprints of the \
            certificates. Compare these with what the MVPD told you by another way, and name those that are its own. An https address is fetched by \
            the cluster, not by this machine: of SAML metadata, or of a discovery document (/.well-known/openid-configuration); that of an MVPD \
            with OAuth is confirmed by --client-id and --client-secret-reference instead of fingerprints. Of an MVPD that the catalogue has, what no \
            option names stays, but for what the metadata says and the certificates that you confirm. The command makes all of its changes or none, and \
            can be said again, with --push for example.
            """)

    @Argument(help: "A file with SAML metadata, '-' for standard input, or an https address.")
    var source: String

    @Option(help: "What the catalogue and apps will call it. Default: the file's name without its ending.")
    var id: String?

    @Option(help: "What people see. Default: what the metadata says, else the name of its server, else the id.")
    var name: String?

    @Option(name: .customLong("confirm"), help: "SHA-256 of a certificate that is the MVPD's own; repeat it for several.")
    var fingerprints: [String] = []

    @Option(
        name: .customLong("confirm-expired"),
        help:
            "SHA-256 of a certificate that is the MVPD's own, and to be taken although its validity is over or has not begun; repeat it for several.")
    var expiredFingerprints: [String] = []

    @Flag(
        name: .customLong("keep-certificates"),
        help: "Keep the certificates that are pinned beside those that you confirm, for the time in which the MVPD changes its key.")
    var keepsCertificates = false

    @Option(help: "The attribute with the person's id. Default: the NameID.")
    var userIDAttribute: String?

    @Option(help: "Days that a sign-in lasts, 1 to 365. Default of a new MVPD: 30.")
    var days: Int?

    @Option(help: "Hours that a decision lasts, 1 to 8760. Default of a new MVPD: 24.")
    var decisionHours: Int?

    @Option(help: "How the decision point is asked: none, xacmlJson, xacmlXml, xacmlSoap or restMrss. Default of a new MVPD: none.")
    var decisions: String?

    @Option(help: "The address of the decision point.")
    var decisionURL: String?

    @Option(help: "With OAuth: the client that the MVPD registered.")
    var clientID: String?

    @Option(help: "With OAuth: the reference of its secret, as 'boxoffice secret set' keeps it.")
    var clientSecretReference: String?

    @Option(name: .customLong("requestor"), help: "A channel to integrate it with; repeat it for several.")
    var requestors: [String] = []

    @Option(
        name: .customLong("push"),
        help: "Make it live, with this description. What else the draft holds is listed, and on a terminal the person is asked.")
    var description: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let found = try await ProviderPreview.read(try document(), for: try mvpd())
        guard isConfirmed(found) else {
            print(try json ? found.json() : found.text(Console()))
            if !json, found.isOAuth { print("Register at the MVPD, to the letter:  \(try callback())") }
            guard found.problems.isEmpty else { throw CommandExit.failed.exitCode }
            return
        }
        let console = Console(isQuiet: json)
        try await requireRequestors()
        for warning in found.warnings { console.line("  look at: \(warning.text)") }
        var steps = try await DraftEdit.together { (edit: inout DraftEdit) async throws -> [String] in
            var told = try await add(found, &edit)
            for requestor in requestors { told.append(try await integrate(requestor, &edit)) }
            return told
        }
        for step in steps { console.line(step) }
        var pushed: OpenDraft.Pushed?
        if let description {
            let pushing = try await OpenDraft.push(try made(), description, console, asks: !json)
            steps.append(pushing.line)
            console.line(pushing.line)
            pushed = pushing
        } else {
            console.line("next: 'boxoffice mvpd test \(try mvpd()) --draft' tries it, 'boxoffice draft push' makes it live")
        }
        guard json else { return }
        var members: [String: Any] = [
            "mvpd": try mvpd(), "steps": steps, "warnings": found.warnings.map(\.text), "push": pushed?.word ?? "draft",
        ]
        members["version"] = pushed?.version
        print(try AdministrationCall.json(members))
    }

    /// The entries that it makes.
    private func made() throws -> Set<EntityKey> {
        let id = try mvpd()
        return Set([EntityKey(.mvpds, id)] + requestors.map { EntityKey(.integrations, "\($0)/\(id)") })
    }

    private func isConfirmed(_ found: ProviderPreview) -> Bool {
        found.isOAuth ? clientID != nil : !fingerprints.isEmpty || !expiredFingerprints.isEmpty
    }

    private func mvpd() throws -> String {
        if let id { return id }
        let file = URL(fileURLWithPath: source).deletingPathExtension().lastPathComponent
        guard source != "-", !isAddress, !file.isEmpty else { throw CommandFailure("the MVPD has no id", advice: "pass --id NewCable") }
        return file
    }

    private var isAddress: Bool { source.hasPrefix("https://") || source.hasPrefix("http://") }

    /// As `POST /admin/v1/mvpds/{id}/metadata` takes it.
    private func document() throws -> [String: Any] {
        if isAddress { return ["address": source] }
        let octets = source == "-" ? FileHandle.standardInput.readDataToEndOfFile() : try TextFile.content(source)
        do throws(MetadataText.Rejection) {
            return ["metadata": try MetadataText.text(of: Array(octets))]
        } catch {
            throw CommandFailure("\(source) \(error.message)", advice: "give the XML that the MVPD sent, as it sent it")
        }
    }

    /// The address of the record's own at which the MVPD's answers come (mvpd §3).
    private func callback() throws -> String {
        let cluster = try ClusterFile.required(ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current))
        return "\(cluster.gateway)/adobe-services/oauth2/\(FormEncoding.encode(try mvpd()))"
    }

    /// A mistyped channel is told before anything is changed.
    private func requireRequestors() async throws {
        for requestor in requestors {
            let answer = try await AdministrationCall.attempt("GET", EntityKey(.requestors, requestor).path)
            guard answer.status == 404 else {
                _ = try AdministrationCall.success(of: answer)
                continue
            }
            let items = try await AdministrationCall.send("GET", "/requestors?size=200").object["items"] as? [[String: Any]] ?? []
            let known = items.compactMap { $0["id"] as? String }
            let advice =
                CommandSuggestion.nearest(to: requestor, among: known).map { "did you mean --requestor \($0)?" }
                ?? "the catalogue has \(known.prefix(10).joined(separator: ", "))"
            throw CommandFailure("there is no channel '\(requestor)', so nothing is changed", advice: advice, exit: .usage)
        }
    }

    private func add(_ found: ProviderPreview, _ edit: inout DraftEdit) async throws -> [String] {
        let place = EntityKey(.mvpds, try mvpd())
        let former = try await edit.read(place)
        if found.isOAuth {
            try await edit.write(place, try MvpdEntry(command: self).oauth(found, id: place.id, over: former?.object))
        } else {
            let body: [String: Any] = [
                "metadata": found.document, "fingerprints": pinned, "confirmExpired": expiredFingerprints,
                "entry": try MvpdEntry(command: self).saml(over: former?.object),
            ]
            _ = try await AdministrationCall.send(
                "POST", place.path + "/metadata", body: try AdministrationCall.json(body), ifMatch: former?.etag)
            if keepsCertificates, let former { try await keepCertificates(of: former.object, at: place, &edit) }
        }
        let entry = try await edit.read(place)?.object ?? [:]
        let isSame = try AdministrationCall.json(former?.object ?? [:]) == AdministrationCall.json(entry)
        let state = isSame ? "stays as it is" : "is in the draft"
        return ["\(place.id) \(state), and is shown as '\(entry["displayName"] as? String ?? place.id)'"] + Self.renamed(former?.object, entry)
    }

    private func keepCertificates(of former: [String: Any], at place: EntityKey, _ edit: inout DraftEdit) async throws {
        func pinned(_ entry: [String: Any]) -> [Any] { (entry["saml"] as? [String: Any])?["signingCertificates"] as? [Any] ?? [] }
        guard let current = try await edit.read(place), var saml = current.object["saml"] as? [String: Any] else { return }
        var entry = current.object
        let new = pinned(entry)
        let known = new.map(Self.letters)
        saml["signingCertificates"] = new + pinned(former).filter { !known.contains(Self.letters($0)) }
        entry["saml"] = saml
        let body = try AdministrationCall.json(entry)
        var answer = try await AdministrationCall.attempt("PUT", place.path, body: body, ifMatch: current.etag)
        // Those of the metadata are confirmed by now. Somebody confirmed the others when they were pinned, and they may have ended since.
        let problems = (answer.object["error"] as? [String: Any])?["problems"] as? [[String: Any]] ?? []
        let ended = problems.compactMap { $0["confirmExpired"] as? String }
        if answer.status == 422, !ended.isEmpty {
            let query = ended.map { "confirmExpired=\(FormEncoding.encode($0))" }.joined(separator: "&")
            answer = try await AdministrationCall.attempt("PUT", "\(place.path)?\(query)", body: body, ifMatch: current.etag)
        }
        _ = try AdministrationCall.success(of: answer)
    }

    /// A certificate without what PEM files differ in.
    private static func letters(_ certificate: Any) -> String {
        let text = certificate as? String ?? (try? AdministrationCall.json([certificate])) ?? ""
        return text.filter { !$0.isWhitespace }
    }

    /// People's ids may be others at another identity provider.
    private static func renamed(_ former: [String: Any]?, _ entry: [String: Any]) -> [String] {
        let ids = [former, entry].map { ($0?["saml"] as? [String: Any])?["idpEntityId"] as? String }
        guard let old = ids[0], let new = ids[1], old != new else { return [] }
        return ["look at: its entity id was \(old), and is \(new) now: is it the same provider?"]
    }

    private func integrate(_ requestor: String, _ edit: inout DraftEdit) async throws -> String {
        let mvpd = try mvpd()
        guard try await edit.read(EntityKey(.integrations, "\(requestor)/\(mvpd)")) == nil else { return "integrated with \(requestor) already" }
        let body = try AdministrationCall.json(["requestor": requestor, "mvpd": mvpd, "metadataKeys": ["userID"]] as [String: Any])
        _ = try await AdministrationCall.send("POST", "/integrations", body: body)
        return "integrated with \(requestor), in the draft"
    }

    /// The certificates to pin: a person who confirms an expired one need not name it twice.
    var pinned: [String] {
        fingerprints + expiredFingerprints.filter { expired in !fingerprints.contains { Self.digits($0) == Self.digits(expired) } }
    }

    private static func digits(_ fingerprint: String) -> [UInt8] {
        fingerprint.lowercased().utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: " ") }
    }
}

/// The facts that metadata cannot say, in the form of the catalogue.
struct MvpdEntry {
    let command: MvpdAddCommand

    /// - Parameter former: The entry so far, of which stays what no option names; `nil`: it is new.
    /// - Throws: `CommandFailure` for numbers out of range.
    private func common(over former: [String: Any]?) throws -> [String: Any] {
        guard (1...365).contains(command.days ?? 1), (1...8760).contains(command.decisionHours ?? 1) else {
            throw CommandFailure("--days is from 1 to 365, --decision-hours from 1 to 8760", exit: .usage)
        }
        var entry: [String: Any] = [:]
        if let days = command.days ?? (former == nil ? 30 : nil) { entry["authnTtl"] = days * 86_400 }
        if let hours = command.decisionHours ?? (former == nil ? 24 : nil) { entry["authzTtl"] = hours * 3600 }
        if former == nil || command.decisions != nil || command.decisionURL != nil {
            var authorization = former?["authorization"] as? [String: Any] ?? ["protocol": "none"]
            // Another protocol is another decision point.
            if let decisions = command.decisions, authorization["protocol"] as? String != decisions { authorization = ["protocol": decisions] }
            if let address = command.decisionURL { authorization["url"] = address }
            entry["authorization"] = authorization
        }
        entry["displayName"] = command.name
        return entry
    }

    /// - Parameter former: As of `common`.
    func saml(over former: [String: Any]? = nil) throws -> [String: Any] {
        var entry = try common(over: former)
        guard former?["saml"] == nil || command.userIDAttribute != nil else { return entry }
        // The NameID is the person's id, unless an attribute is.
        var mapping: [String: Any] = ["target": "userID"]
        mapping["source"] = command.userIDAttribute
        var saml = former?["saml"] as? [String: Any] ?? [:]
        let others = (saml["attributeMap"] as? [[String: Any]] ?? []).filter { $0["target"] as? String != "userID" }
        saml["attributeMap"] = [mapping] + others
        saml["guidAttributeName"] = command.userIDAttribute
        entry["saml"] = saml
        return entry
    }

    /// - Parameter former: As of `common`.
    func oauth(_ found: ProviderPreview, id: String, over former: [String: Any]? = nil) throws -> [String: Any] {
        var oauth = (former?["oauth"] as? [String: Any] ?? [:]).merging(found.oauth) { $1 }
        guard let clientID = command.clientID, let secret = command.clientSecretReference ?? oauth["clientSecretReference"] as? String else {
            throw CommandFailure("the client is not whole", advice: "pass --client-id and --client-secret-reference", exit: .usage)
        }
        oauth["clientId"] = clientID
        oauth["clientSecretReference"] = secret
        if let attribute = command.userIDAttribute { oauth["userIdClaim"] = attribute }
        var entry = (former ?? [:]).merging(try common(over: former)) { $1 }
        entry["oauth"] = oauth
        entry["id"] = id
        entry["displayName"] = command.name ?? former?["displayName"] as? String ?? id
        return entry
    }
}
