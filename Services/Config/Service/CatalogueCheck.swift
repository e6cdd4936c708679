internal import CatalogueFiles
internal import Clocks

/// `config --check-catalogue FILE`: what an operator runs before handing a catalogue to a running service.
public enum CatalogueCheck {
    /// The file to check, when that is what the arguments ask for.
    /// - Parameter arguments: Those behind the program's name.
    public static func file(in arguments: [String]) -> String? {
        arguments.count == 2 && arguments[0] == "--check-catalogue" ? arguments[1] : nil
    }

    /// - Parameter clientSecrets: As `CatalogueFile` takes it.
    /// - Returns: The text to print, and whether the catalogue can be used.
    public static func check(_ file: String, clientSecrets: String? = nil) -> (lines: [String], isGood: Bool) {
        do throws(CatalogueRejection) {
            let content = try CatalogueFile(path: file, clientSecrets: clientSecrets).read(now: SystemClock().now())
            let configuration = content.configuration
            let sizes = [
                "\(configuration.requestors.count) requestors", "\(configuration.mvpds.count) MVPDs",
                "\(configuration.integrations.count) integrations", "\(configuration.applications.count) applications",
            ]
            return (["\(file) is good: \(sizes.joined(separator: ", "))"] + content.warnings.map { "  warning: \($0)" }, true)
        } catch {
            return (error.lines, false)
        }
    }
}
