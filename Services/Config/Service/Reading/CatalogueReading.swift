internal import Contracts
internal import StrictJson

/// Reads a catalogue document into a `Configuration` and checks that it fits together.
///
/// Sections are read in the order of their references, whatever their order in the text.
final class CatalogueReading {
    let certificates: CertificateReader
    var programmers: Set<String> = []
    /// Requestor id to programmer id.
    var requestors: [String: String] = [:]
    var mvpds: [String: Mvpd] = [:]
    var mappingIDs: Set<String> = []
    var integrations: Set<[String]> = []
    var applications: Set<String> = []
    /// References to MVPDs that may stand before the MVPD itself.
    var proxies: [(reference: JsonValue, id: String, from: String)] = []

    init(certificates: CertificateReader) { self.certificates = certificates }

    func configuration(_ root: JsonValue) -> Configuration? {
        root.object { object in
            var configuration = Configuration()
            configuration.programmers = object.required("programmers")?.array(programmer) ?? []
            configuration.requestors = object.required("requestors")?.array(requestor) ?? []
            configuration.mvpds = object.required("mvpds")?.array(mvpd) ?? []
            configuration.integrations = object.required("integrations")?.array(integration) ?? []
            configuration.applications = object.optional("applications")?.array(application) ?? []
            checkProxies()
            return configuration
        }
    }

    private func programmer(_ value: JsonValue) -> Programmer? {
        value.object { object in
            let id = object.newID { programmers.insert($0).inserted }
            return Programmer(id: id, name: object.text("name"))
        }
    }

    private func checkProxies() {
        for (reference, id, from) in proxies {
            if id == from {
                reference.problem("must be another MVPD than the one it stands in")
            } else if let proxy = mvpds[id] {
                if proxy.isProxied { reference.problem("names '\(id)', which is itself reached through a proxy") }
            } else {
                reference.problem("names the MVPD '\(id)', which is not in the catalogue")
            }
        }
    }
}
