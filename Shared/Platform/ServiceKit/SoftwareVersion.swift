internal import CProcess

/// The version that programs say of themselves.
public enum SoftwareVersion {
    /// In `hello`, in health reports and in `boxoffice_build_info`.
    public static let current = "0.1.0"

    /// Who calls servers of other organisations (RFC 9110 §10.1.5): no build and no host.
    public static let userAgent = "Boxoffice/\(current)"

    /// `debug` for a program that was built for development, `release` for one whose figures count. A program is linked from modules of one build.
    public static let build: String = {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }()

    /// The commit that it was built from: hexadecimal digits; empty for a build that is no release's.
    public static let commit = String(cString: boxoffice_build_commit())

    /// The text that `--version` prints; the same for all programs of one build.
    public static let description = "\(current) (\(build) build\(commit.isEmpty ? "" : " of \(commit.prefix(12))"))"
}
