public import ArgumentParser
internal import Foundation
internal import SamlProfile
internal import TextEncodings

/// `boxoffice mvpd add`: what the console's page *Connect an MVPD* does.
public struct MvpdAddCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Show what an MVPD's metadata says; with --confirm, make it an entry of the draft; with --push, make that live.",
        discussion: """
            Run it without --confirm first: it changes nothing, and shows what is understood, what is doubtful, and the fingerprints of the \
            certificates. Compare these with what the MVPD told you by another way, and name those that are its own. An https address is fetched by \
            the cluster, not by this machine: of SAML metadata, or of a discovery document (/.well-known/openid-configuration); that of an MVPD \
            with OAuth is confirmed by --client-id and --client-secret-reference instead of fingerprints.
            """)

    @Argument(help: "A file with SAML metadata, '-' for standard input, or an https address.")
    var source: String

    @Option(help: "What the catalogue and apps will call it. Default: the file's name without its ending.")
    var id: String?

    @Option(help: "What people see. Default: what the metadata says.")
    var name: String?

    @Option(name: .customLong("confirm"), help: "SHA-256 of a certificate that is the MVPD's own; repeat it for several.")
    var fingerprints: [String] = []

    @Option(
        name: .customLong("confirm-expired"),
        help:
            "SHA-256 of a certificate that is the MVPD's own, and to be taken although its validity is over or has not begun; repeat it for several.")
    var expiredFingerprints: [String] = []

    @Option(help: "The attribute with the person's id. Default: the NameID.")
    var userIDAttribute: String?

    @Option(help: "Days that a sign-in lasts.")
    var days = 30

    @Option(help: "Hours that a decision lasts.")
    var decisionHours = 24

    @Option(help: "How the decision point is asked: none, xacmlJson, xacmlXml, xacmlSoap or restMrss.")
    var decisions = "none"

    @Option(help: "The address of the decision point.")
    var decisionURL: String?

    @Option(help: "With OAuth: the client that the MVPD registered.")
    var clientID: String?

    @Option(help: "With OAuth: the reference of its secret, as 'boxoffice secret set' keeps it.")
    var clientSecretReference: String?

    @Option(name: .customLong("requestor"), help: "A channel to integrate it with; repeat it for several.")
    var requestors: [String] = []

    @Option(name: .customLong("push"), help: "Push the draft with this description.")
    var description: String?

    @Flag(help: "Print JSON.")
    var json = false

    public init() {}

    public func run() async throws {
        let found = try await ProviderPreview.read(try document(), for: try mvpd())
        guard isConfirmed(found) else {
            print(try json ? found.json() : found.text(Console()))
            if !json, found.isOAuth { print("Register at the MVPD, to the letter:  \(try callback())") }
            guard found.problems.isEmpty else { throw CommandExit.failed.exitCode }
            return
        }
        var steps = [try await add(found)]
        for requestor in requestors {
            let body = try AdministrationCall.json(["requestor": requestor, "mvpd": try mvpd(), "metadataKeys": ["userID"]])
            _ = try await AdministrationCall.send("POST", "/integrations", body: body)
            steps.append("integrated with \(requestor), in the draft")
        }
        if let description { steps.append(try await push(description)) }
        try tell(steps, found)
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
        do throws(MetadataText.Problem) {
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

    private func add(_ found: ProviderPreview) async throws -> String {
        let id = try mvpd()
        if found.isOAuth {
            let body = try AdministrationCall.json(try MvpdEntry(command: self).oauth(found, id: id))
            _ = try await AdministrationCall.send("POST", "/mvpds", body: body)
        } else {
            let body: [String: Any] = [
                "metadata": found.document, "fingerprints": pinned, "confirmExpired": expiredFingerprints,
                "entry": try MvpdEntry(command: self).saml(),
            ]
            _ = try await AdministrationCall.send("POST", "/mvpds/\(FormEncoding.encode(id))/metadata", body: try AdministrationCall.json(body))
        }
        return "\(id) is in the draft"
    }

    /// Who confirms an expired one need not name it twice.
    var pinned: [String] {
        fingerprints + expiredFingerprints.filter { expired in !fingerprints.contains { Self.digits($0) == Self.digits(expired) } }
    }

    private static func digits(_ fingerprint: String) -> [UInt8] {
        fingerprint.lowercased().utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: " ") }
    }

    private func push(_ description: String) async throws -> String {
        let answer = try await AdministrationCall.send("POST", "/draft/push", body: try AdministrationCall.json(["description": description]))
        if let version = answer.object["version"] as? Int { return "pushed: version \(version)" }
        return "the push waits for a second person"
    }

    private func tell(_ steps: [String], _ found: ProviderPreview) throws {
        guard !json else {
            print(try AdministrationCall.json(["mvpd": try mvpd(), "steps": steps, "warnings": found.warnings.map(\.text)]))
            return
        }
        let console = Console()
        for warning in found.warnings { console.line("  look at: \(warning.text)") }
        for step in steps { console.line(step) }
        if description == nil { console.line("'boxoffice mvpd add' pushes with --push; the console reviews the draft") }
    }
}

/// What metadata cannot say, in the form of the catalogue.
struct MvpdEntry {
    let command: MvpdAddCommand

    /// - Throws: `CommandFailure` for numbers out of range.
    private func common() throws -> [String: Any] {
        guard (1...365).contains(command.days), (1...8760).contains(command.decisionHours) else {
            throw CommandFailure("--days is from 1 to 365, --decision-hours from 1 to 8760")
        }
        var authorization = ["protocol": command.decisions]
        authorization["url"] = command.decisionURL
        var entry: [String: Any] = [
            "authnTtl": command.days * 86_400, "authzTtl": command.decisionHours * 3600, "authorization": authorization,
        ]
        entry["displayName"] = command.name
        return entry
    }

    func saml() throws -> [String: Any] {
        var entry = try common()
        // The NameID is the person's id, unless an attribute is.
        var mapping = ["target": "userID"]
        mapping["source"] = command.userIDAttribute
        var saml: [String: Any] = ["attributeMap": [mapping]]
        saml["guidAttributeName"] = command.userIDAttribute
        entry["saml"] = saml
        return entry
    }

    func oauth(_ found: ProviderPreview, id: String) throws -> [String: Any] {
        guard let clientID = command.clientID, let secret = command.clientSecretReference else {
            throw CommandFailure("the client is not whole", advice: "pass --client-id and --client-secret-reference")
        }
        var entry = try common()
        var oauth = found.oauth
        oauth["clientId"] = clientID
        oauth["clientSecretReference"] = secret
        oauth["userIdClaim"] = command.userIDAttribute
        entry["oauth"] = oauth
        entry["id"] = id
        entry["displayName"] = command.name ?? id
        return entry
    }
}
