/// `--config FILE [--check-config | --describe-store]`, the same for every service.
struct CommandLineOptions: Equatable {
    var settingsFile: String
    var checksOnly = false
    /// Prints where the store is and what its schema is, and ends.
    var describesStore = false

    /// - Throws: `StartFailure` with the usage for anything else.
    init(_ arguments: [String], program: String) throws(StartFailure) {
        var file: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--config":
                guard let value = rest.popFirst() else { throw Self.usage(program, "--config needs a file") }
                file = value
            case "--check-config": checksOnly = true
            case "--describe-store": describesStore = true
            case _ where argument.hasPrefix("--config="): file = String(argument.dropFirst("--config=".count))
            default: throw Self.usage(program, "unknown argument '\(argument)'")
            }
        }
        guard let file, !file.isEmpty else { throw Self.usage(program, "--config is missing") }
        settingsFile = file
    }

    private static func usage(_ program: String, _ problem: String) -> StartFailure {
        StartFailure("\(problem); usage: \(program) --config FILE [--check-config | --describe-store], or \(program) --version")
    }
}
