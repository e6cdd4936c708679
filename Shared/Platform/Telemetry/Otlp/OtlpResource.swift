internal import Spans

/// The description of the program with each export.
public struct OtlpResource: Sendable {
    let attributes: [SpanAttribute]
    let version: String

    /// - Parameters:
    ///   - program: Its name, where the options have none.
    ///   - version: The version of the software.
    ///   - facts: Further facts about the program; the options' attributes take precedence.
    ///   - instance: Names this process alone.
    public init(program: String, version: String, facts: [String: String] = [:], instance: String, options: TelemetryOptions) {
        self.version = version
        var all = ["service.namespace": "boxoffice", "service.version": version, "service.instance.id": instance]
        all.merge(["telemetry.sdk.name": "boxoffice", "telemetry.sdk.language": "swift", "telemetry.sdk.version": version]) { $1 }
        all.merge(facts) { $1 }
        all.merge(options.resource) { $1 }
        all["service.name"] = options.serviceName ?? program
        attributes = all.sorted { $0.key < $1.key }.map { SpanAttribute($0.key, .text($0.value)) }
    }

    func write(to text: inout OtlpText) { text.object("resource") { $0.attributes(attributes) } }

    func writeScope(to text: inout OtlpText) {
        text.object("scope") { scope in
            scope.text("name", "boxoffice")
            scope.text("version", version)
        }
    }
}

extension OtlpText {
    mutating func attributes(_ attributes: [SpanAttribute]) {
        guard !attributes.isEmpty else { return }
        array("attributes") { list in
            for attribute in attributes {
                list.object { pair in
                    pair.text("key", attribute.key)
                    pair.object("value") { value in
                        switch attribute.value {
                        case .text(let text): value.string("stringValue", text)
                        case .integer(let number): value.long("intValue", number)
                        case .flag(let flag): value.flag("boolValue", flag)
                        }
                    }
                }
            }
        }
    }
}
